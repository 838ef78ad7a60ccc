"""From a reply to its final answer."""
