"""Where linked rows go: the one question that makes this library different, a file per answer.

``hard`` keeps every statement, ``soft`` weighs them against distances, ``in_order`` obeys them by
priority, ``marginals`` answers in probabilities. ``units`` and ``links`` are what they work on.
"""
