"""The paper's paired tables as per-problem differences, in quarter points of a problem."""

DEEPSEEK = {
    "AIME24": [1, 2, 3],
    "AIME25": [1, 1, 1, 1, 1, 2, 2, 4],
    "AIME26": [1, 2, 2, 2, 2, 3, -1],
}
QWEN = {
    "AIME24": [1, 1, 1, 2, 2, 3, -1, -1, -1, -2],
    "AIME25": [1, 1, 1, 1, 2, 2, 2, 4, -1, -1, -1],
    "AIME26": [1, 2, 2, 2, 2, 2, 3, 4, -1, -1],
}


def the_differences(model: str, benchmark: str) -> list[int]:
    """List the differences of a benchmark's 30 problems, or of all 90."""
    rows = DEEPSEEK if model == "DeepSeek" else QWEN
    years = [benchmark] if benchmark != "pooled" else list(rows)
    return [value for year in years for value in rows[year] + [0] * (30 - len(rows[year]))]
