"""Why a backend cannot be used here, one sentence a cause, each with the next step."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.errors import SandboxUnavailableError
from steelyard.ports import Guarantee

INSTALL = "install it with the system's package manager or with: pip install 'steelyard[sandbox]'"
BWRAP_MISSING = f"bubblewrap (bwrap) is not on this machine; {INSTALL}"
NOT_LINUX = "bubblewrap works on Linux only, and this machine runs {platform}"
UNSAFE_NOT_ALLOWED = (
    "the backend unsafe-process gives code the run of this machine; "
    "it is meant for your own reference solutions and needs --allow-unsafe"
)
NO_MOUNTS = "the backend unsafe-process cannot show files at {path}; use bubblewrap for items with hidden tests"

_BWRAP = (
    (
        "(ENOSPC)",
        "user namespaces are switched off on this machine (the kernel answers ENOSPC); "
        "an administrator can allow them with: sysctl user.max_user_namespaces=15000",
    ),
    (
        "setting up uid map: Permission denied",
        "AppArmor forbids user namespaces for this bwrap (the default of Ubuntu 24.04); an administrator can add a "
        "profile for it or run: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "Failed RTM_NEWADDR",
        "the network namespace cannot be set up, which is how AppArmor's rule for user namespaces shows on some "
        "systems; an administrator can run: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "does not support user namespaces",
        "this kernel has no user namespaces; it must be built with CONFIG_USER_NS",
    ),
    (
        "No permissions to creat",  # bwrap's versions end this word in two ways
        "this kernel lets no ordinary user make namespaces; an administrator can run: "
        "sysctl kernel.unprivileged_userns_clone=1, or, in a container, allow them in its seccomp profile",
    ),
    (
        "Creating new namespace failed: Operation not permitted",
        "making namespaces is forbidden here, as it is in most containers; "
        "start the container with a seccomp profile that allows unshare and clone",
    ),
    (
        "mount proc on",
        "a fresh /proc cannot be mounted here, as in containers whose own /proc is masked; "
        "start the container with its /proc unmasked (docker: --security-opt systempaths=unconfined)",
    ),
)

_MISSING: dict[str, str] = {
    "filesystem": "hiding the host's files needs bubblewrap",
    "network": "cutting off the network needs a network namespace",
    "memory": "limiting memory for all processes together needs a writable cgroup (v1, or a delegated v2 subtree; "
    "try: systemd-run --user --scope -p Delegate=yes steelyard ...)",
    "pids": "limiting the number of processes needs a writable pids cgroup, or an ordinary user instead of root on "
    "Linux 5.14 or newer (RLIMIT_NPROC does not bind root)",
    "cpu": "limiting CPU time needs bubblewrap",
    "disk": "limiting disk use for certain needs the work tree on tmpfs and a writable memory cgroup",
    "wall": "a wall clock needs a backend that can end the whole process tree",
    "output": "an output limit needs a backend that reads through a pipe",
}


def of_bwrap(path: str, message: str) -> str:
    """The sentence for what `bwrap` printed when its probe failed."""
    for mark, sentence in _BWRAP:
        if mark in message:
            return f"{path}: {sentence}"
    return f"{path} failed its probe: {message.strip() or 'it printed nothing'}"


def check(name: str, caps: Collection[Guarantee], require: Collection[Guarantee]) -> None:
    """Raise SandboxUnavailableError when a required guarantee is missing."""
    missing = sorted(set(require) - set(caps))
    if missing:
        reasons = "; ".join(f"{guarantee}: {_MISSING[guarantee]}" for guarantee in missing)
        raise SandboxUnavailableError(f"{name} cannot give what this job requires here. {reasons}")
