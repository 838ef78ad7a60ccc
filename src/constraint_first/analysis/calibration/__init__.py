"""From graded runs of a model to a policy: which method for which problems."""
