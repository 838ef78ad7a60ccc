"""An async program: several problems at the same time, over the connections of one engine.

python examples/async_program.py http://127.0.0.1:8000/v1    its key, if any, in ENDPOINT_KEY
"""

from __future__ import annotations

import asyncio
import os
import sys

import constraint_first

PROBLEMS = {
    "What is the remainder when 100 is divided by 7?": "2",
    "How many positive integers divide 12?": "6",
    "What is the largest integer less than 7.5?": "7",
}


async def main(address: str) -> None:
    endpoint = constraint_first.Endpoint(address, "", os.environ.get("ENDPOINT_KEY", ""))
    async with constraint_first.OpenAI(
        endpoint, constraint_first.Decoding(temperature=0.0)
    ) as engine:
        solving = (constraint_first.asolve(text, "direct", engine=engine) for text in PROBLEMS)
        for solved in await asyncio.gather(*solving):
            print(f"{solved.problem.text} {solved.answer} ({solved.tokens} tokens)")


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1]))
    except constraint_first.CfrError as error:
        sys.exit(str(error))
