"""The subject of the paper: cues in a problem, constraints on its answer, and their prompts."""
