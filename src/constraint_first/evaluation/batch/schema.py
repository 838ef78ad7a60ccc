"""The store's tables of batches; a store gets them with its first batch.

They stand apart from the other tables, so that stores from before there were batches, and those
that never have one, stay as they are.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

__all__ = ["METADATA", "batches", "requests"]

METADATA: Final = sa.MetaData()

batches = sa.Table(
    "batches",
    METADATA,
    sa.Column("tag", sa.Text, primary_key=True),
    # The address without anything secret, or the folder.
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("wave", sa.Integer, nullable=False),
    sa.Column("requests", sa.Integer, nullable=False),
    # Dollars paid for a dollar of the model's price.
    sa.Column("price_factor", sa.Float, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    # collected, uploaded, created, ended, closed, forgotten: log.py says what each means.
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("input_file", sa.Text, nullable=False, server_default=""),
    sa.Column("batch", sa.Text, nullable=False, server_default=""),
    sa.Column("status", sa.Text, nullable=False, server_default=""),
    sa.Column("output_file", sa.Text, nullable=False, server_default=""),
    sa.Column("error_file", sa.Text, nullable=False, server_default=""),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
)

# One for each request of a batch; its custom_id is made of these columns (engine/batch/place.py).
requests = sa.Table(
    "batch_requests",
    METADATA,
    sa.Column("tag", sa.Text, sa.ForeignKey("batches.tag"), nullable=False),
    sa.Column("series", sa.Integer, nullable=False),
    sa.Column("problem", sa.Integer, nullable=False),
    sa.Column("run", sa.Integer, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("digests", sa.Text, nullable=False),
    # HTTP's, 0 where the request was not performed, NULL while nothing is known.
    sa.Column("status", sa.Integer),
    # What a refusal said.
    sa.Column("said", sa.Text),
    sa.PrimaryKeyConstraint("series", "problem", "run", "ordinal", "tag"),
    sa.Index("batch_requests_tag", "tag"),
)
