"""The paper's own subject: cues in a problem, constraints on its answer, and their prompts."""
