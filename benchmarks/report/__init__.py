"""Every estimator over rows, features, clusters, statements and members, beside its rivals.

    python -m benchmarks.report --quick          the small version, tables to build/report
    python -m benchmarks.report --quick --write  the same, to docs/benchmarks.md and ratios.json
    python -m benchmarks.report --quick --check  fails where a ratio to scikit-learn got worse
    python -m benchmarks.report --rivals         makes their environments under build/rivals, too
    python -m benchmarks.report --pages          the command of every figure in README and docs
    python -m benchmarks.report --page cosine.md runs those of one page (--match: some of them)

Each case is a process of its own with a time limit. What is finished stands in build/report, so a
run that is stopped goes on where it was; cases that other code has computed are computed again.
"""
