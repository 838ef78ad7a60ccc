from constraint_first.run.batch_service import BatchView, WaveProgress


def test_a_wave_says_how_far_it_is() -> None:
    one = BatchView("batch_1", "in_progress", 1_200, 300, 2)
    progress = WaveProgress(2, (one,), next_look=12.4)
    assert str(progress) == (
        "wave 2: 300 of 1,200 requests done, 2 failed; "
        "batch_1 in_progress (300 of 1,200, 2 failed); next look in 12 s"
    )
    assert (progress.requests, progress.done, progress.failed) == (1_200, 300, 2)


def test_many_batches_are_counted_by_status_and_trouble_is_told() -> None:
    several = [BatchView(f"batch_{n}", "completed" if n else "in_progress", 10) for n in range(4)]
    assert str(WaveProgress(1, tuple(several), trouble="cannot be reached")) == (
        "wave 1: 0 of 40 requests done; 4 batches (1 in_progress, 3 completed); cannot be reached"
    )
