"""The final answer: reading it out of a completion, and judging whether it is right."""
