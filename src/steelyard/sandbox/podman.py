"""What podman does otherwise than docker: its system call filter, and file systems that only one user may own.

Podman's default filter lets an ordinary user make namespaces and mounts, which docker's does not; `stricter` takes
those away from it. Its tmpfs takes no owner and no number of files, so the disk is not promised (`engine`).
Source: podman 4.3's manual pages and its /usr/share/containers/seccomp.json; docker's default profile for the
namespaces that `clone` may not ask for.
Not covered: podman before 4, rootless podman on a host without subordinate ids.
Easy to break: a rule whose condition nothing meets allows nothing, so `clone` needs its own rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import SandboxUnavailableError

_TAKEN_AWAY = {
    *("clone", "clone3", "unshare", "setns"),
    *("mount", "umount", "umount2", "pivot_root", "open_tree", "move_mount", "mount_setattr"),
    *("fsopen", "fsmount", "fsconfig", "fspick"),
    *("keyctl", "add_key", "request_key"),
    *("ptrace", "process_vm_readv", "process_vm_writev"),
}
_NAMESPACES = 0x7E020000  # the CLONE_NEW* flags
_ENOSYS = 38
_OWN_RULES: list[dict[str, Any]] = [
    {
        "names": ["clone"],
        "action": "SCMP_ACT_ALLOW",
        "args": [{"index": 0, "value": _NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}],
    },
    # Its flags lie in memory, where no filter sees them; without it the C library takes `clone`.
    {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS, "args": []},
]


def stricter(profile: Path) -> bytes:
    """Podman's filter without what could make namespaces or mounts, or look into other processes."""
    try:
        rules: dict[str, Any] = msgspec.json.decode(profile.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise SandboxUnavailableError(f"podman's system call filter {profile} cannot be read: {error}") from error
    kept = [{**rule, "names": [n for n in rule["names"] if n not in _TAKEN_AWAY]} for rule in rules["syscalls"]]
    return msgspec.json.encode({**rules, "syscalls": [*(rule for rule in kept if rule["names"]), *_OWN_RULES]})


def tree_options(place: str, size_bytes: int, mode: str) -> list[str]:
    """An empty file system that belongs to the container's own user, who opens it to others afterwards (`OPEN`)."""
    return ["--tmpfs", f"{place}:rw,exec,nosuid,nodev,size={size_bytes},mode={mode},U"]


OPEN = "chmod 1777 /work /tmp /dev/shm"
"""Run by the container's own user before any command: what those write is not theirs in podman."""

LIMITS = ("--ulimit", "nproc=4096:4096")
"""Podman raises the limit of a user's processes, which not every host allows; this is below any usual one."""
