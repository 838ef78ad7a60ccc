"""``cfr extract``: the final answers out of a file of replies."""

from __future__ import annotations

from pathlib import Path

import click

from constraint_first.answer.extraction.extract import extract
from constraint_first.cli.option import columns_option
from constraint_first.cli.output import print_note
from constraint_first.cli.row_file import RowFields, good_rows, text_field, with_progress, writing

__all__ = ["command"]


@click.command("extract")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the rows here.")
@columns_option("text=reply,id=…")
def command(file: Path, output: Path | None, columns: dict[str, str]) -> None:
    """Read the final answer out of each reply of a file.

    FILE (.jsonl, .json, .csv, .tsv, .parquet) has the field "text" and perhaps "id". Each line of
    the output has "id", "answer" (null where the reply gives none) and "how", the rule that found
    it. A row that cannot be read is reported on standard error and does not stop the rest.

    \b
    Examples:
      cfr extract replies.jsonl -o answers.jsonl
      cfr extract replies.jsonl | head
      cfr extract table.csv --columns text=reply
    """
    read = good_rows(file, RowFields(("text", "id"), ("text",)), columns)
    found = 0
    with writing(output) as write:
        print_note(read.taken)
        for row in with_progress(read.rows, len(read.rows), "Reading"):
            result = extract(text_field(row, "text") or "")
            found += result.answer is not None
            write({"id": row.value["id"], "answer": result.answer, "how": result.how})
    skipped = f", {read.bad} skipped" if read.bad else ""
    print_note(f"{len(read.rows)} replies: {found} with an answer{skipped}")
