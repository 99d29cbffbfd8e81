"""What is installed here, for bug reports."""

import importlib.metadata
import os
import platform
import sys

import conclust

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "joblib",
    "threadpoolctl",
    "click",
    "rich",
    "matplotlib",
    "skops",
)


def versions() -> dict[str, str]:
    """Versions of Python, the platform, conclust and what it stands on."""
    found = {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": str(os.cpu_count()),
        "conclust": conclust.__version__,
    }
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions that matter in a bug report.

    See Also
    --------
    conclust.__version__ : That of conclust alone.

    Examples
    --------
    >>> import conclust
    >>> conclust.show_versions()
          python: 3...
        conclust: ...
    """
    found = versions()
    width = max(map(len, found))
    for name, version in found.items():
        print(f"{name:>{width}}: {version}")
