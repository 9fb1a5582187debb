"""Why a backend cannot be used here, one sentence a cause, each with the next step."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.errors import InputError, SandboxUnavailableError, did_you_mean
from steelyard.ports import Guarantee

INSTALL = "install it with the system's package manager or with: pip install 'steelyard[sandbox]'"
BWRAP_MISSING = f"bubblewrap (bwrap) is not on this machine; {INSTALL}"
NOT_LINUX = "bubblewrap works on Linux only, and this machine runs {platform}"
UNSAFE_NOT_ALLOWED = (
    "the backend unsafe-process gives code the run of this machine; "
    "it is meant for your own reference solutions and needs --allow-unsafe"
)
NO_MOUNTS = (
    "the backend unsafe-process cannot show files at {path}; use bubblewrap or docker for items with hidden tests"
)

DOCKER_MISSING = (
    "the docker command line ({binary}) is not on this machine; install Docker Engine 20.10 or newer, "
    "name another program with STEELYARD_DOCKER, or use --sandbox bubblewrap"
)
DOCKER_TOO_OLD = "{binary}: the engine is {version}, and this backend needs {least} or newer; upgrade it"
DOCKER_NOT_LINUX = "{binary}: the engine runs {system} containers, and this backend needs Linux ones; switch it over"
IMAGE_VOLUMES = (
    "the image {image} declares volumes ({volumes}), which a read-only sandbox cannot keep within its limits; "
    "build one without VOLUME"
)
_IMAGE_RECIPE = (
    'the image "{image}" is not on this machine and images are never pulled; build it with: '
    "steelyard image build {image}"
)
_IMAGE_OTHER = (
    'the image "{image}" is not on this machine and images are never pulled; load it yourself (docker load, docker '
    "pull) or use one of the recipes: steelyard image build python"
)

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

_DOCKER = (
    (
        "permission denied while trying to connect",
        "this user may not talk to the docker daemon; an administrator can add it to the group docker "
        "(which makes it root on this machine), or use --sandbox bubblewrap",
    ),
    (
        "is too new. Maximum supported API version",
        "the engine is older than this docker command line and speaks none of its versions; this backend needs "
        "Docker Engine 20.10 or newer: upgrade it",
    ),
    (
        "is too old. Minimum supported API version",
        "this docker command line is too old for its engine; upgrade the command line",
    ),
    (
        "docker-init",
        "the engine has no docker-init, which reaps the processes of a container; install it (the package is named "
        "docker-init, docker-engine or tini)",
    ),
    (
        "container-init binary not found",
        "podman has no catatonit, which reaps the processes of a container; install it (the package is catatonit)",
    ),
    *(
        (
            mark,
            "the docker daemon does not answer; start it (systemctl start docker), "
            "or point DOCKER_HOST at one that runs",
        )
        for mark in (
            "Cannot connect to the Docker daemon",
            "failed to connect to the docker API",
            "error during connect",
            "onnection refused",
            "no such host",
            "did not answer",
        )
    ),
)

_MISSING: dict[str, str] = {
    "filesystem": "hiding the host's files needs bubblewrap or docker",
    "network": "cutting off the network needs a network namespace",
    "memory": "limiting memory for all processes together needs a writable cgroup (v1, or a delegated v2 subtree; "
    "try: systemd-run --user --scope -p Delegate=yes steelyard ...)",
    "pids": "limiting the number of processes needs a writable pids cgroup, or an ordinary user instead of root on "
    "Linux 5.14 or newer (RLIMIT_NPROC does not bind root)",
    "cpu": "limiting CPU time needs bubblewrap or docker",
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


def of_docker(binary: str, message: str) -> str:
    """The sentence for what the docker command line printed when it failed."""
    for mark, sentence in _DOCKER:
        if mark in message:
            return f"{binary}: {sentence}"
    return f"{binary} failed: {message.strip() or 'it printed nothing'}"


def of_image(image: str, recipes: Collection[str]) -> str:
    """The sentence for an image that is not on this machine."""
    return (_IMAGE_RECIPE if image in recipes else _IMAGE_OTHER).format(image=image)


def check(name: str, caps: Collection[Guarantee], require: Collection[Guarantee]) -> None:
    """Raise SandboxUnavailableError when a required guarantee is missing, InputError for one that does not exist."""
    for guarantee in require:
        if guarantee not in _MISSING:
            raise InputError(f'no guarantee "{guarantee}"{did_you_mean(guarantee, _MISSING)}')
    missing = sorted(set(require) - set(caps))
    if missing:
        reasons = "; ".join(f"{guarantee}: {_MISSING[guarantee]}" for guarantee in missing)
        raise SandboxUnavailableError(f"{name} cannot give what this job requires here. {reasons}")
