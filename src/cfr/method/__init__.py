"""Every way to answer a problem, each a generator of model calls."""
