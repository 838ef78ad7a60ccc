"""An answer against the gold answer: the exact tier, and the symbolic one in workers."""
