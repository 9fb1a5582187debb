"""The first processes of a kept sandbox: they load one trusted module, then fork a fresh sandbox for each order.

Sent inside as text, standard library only; it never runs code of others. Started by bwrap as uid 0 of a user
namespace, it forbids further user namespaces but one, moves into that one (uid 10001 there), lets go of what no job may
have (kernel keyrings, the bounding set) and becomes the zygote.
An order is one message on the socket with handles: order, stdin, output, report. For each order a child is forked as
pid 1 of a new pid namespace. It enters the cgroups, takes mount, IPC, network and cgroup namespaces of its own, mounts
a fresh /work, /tmp, /dev/shm and /proc, leaves the session, sets rlimits, writes the order's files, closes every
handle but four, gives up all capabilities for good, and only then calls the entry of the module. The zygote answers
with a handle of pid 1, and with the child's end once the kernel has killed all that was left in its pid namespace. The
zygote reads nothing of an order, so nothing of one job is in the memory that the next one inherits.
Where the entry runs code of others in its own process (`guarded`), the child is pid 2, so that signals mean to it what
they mean anywhere. Pid 1 is then a process that shares the zygote's memory and only ever waits: it holds no handle of
an order and no signal handler, and its rights keep a job from looking into it. Both are made before the order comes,
which the child takes from the socket itself: while the zygote sleeps, no page of its memory has to be copied for it.
Source: namespaces(7), user_namespaces(7), capabilities(7), seccomp(2), cgroups(7); bwrap's --disable-userns.
Not covered: other machines than x86-64 and AArch64 (it ends there, and commands are started alone).
Easy to break: the order of the steps in `_enter`; a handle left open across them; state kept here between two orders.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes members of enumerations of all that it is given
import _socket
import ctypes
import fcntl
import gc
import marshal
import os
import resource
import select
import sys

TYPE_CHECKING = False  # typing itself would be a third of the start
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_NEW_NS, _NEW_CGROUP, _NEW_IPC = 0x00020000, 0x02000000, 0x08000000
_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _DETACH = 1, 2, 4, 8, 2
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 22, 24, 38, 47
_PR_SET_DUMPABLE = 4
_CAP_AMBIENT_CLEAR_ALL, _SECCOMP_MODE_FILTER, _CAPABILITY_VERSION_3 = 4, 2, 0x20080522
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_EPERM, _ENOSYS = 1, 38
_ALLOW, _REFUSE, _FIRST_ARGUMENT = 0x7FFF0000, 0x00050000, 16  # linux/seccomp.h
_CALLS = {  # capset; add_key, request_key, keyctl; kill, tkill, tgkill and two to queue; the audit architecture
    "x86_64": (126, (248, 249, 250), (62, 200, 234, 129, 297), 0xC000003E),
    "aarch64": (91, (217, 218, 219), (129, 130, 131, 138, 240), 0xC00000B7),
}
_OTHER_ABI = 0x40000000  # x32 calls have this bit
_CLONE_VM, _STACK_BYTES = 0x100, 32768
_MOST_HANDLES, _HIGH, _MOST_READ = 1024, 64, 65536
_REPORT = 3
_ID = 10001

_libc = ctypes.CDLL(None, use_errno=True)
for _name in ("mount", "syscall"):
    getattr(_libc, _name)  # looked up once for all jobs
_stack = ctypes.create_string_buffer(_STACK_BYTES)  # of the one guard at a time


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def _filter(arch: int, refused: Sequence[int], signals: Sequence[int]) -> Any:
    """A seccomp program: ENOSYS to the `refused` calls and to those of another ABI, EPERM to signals for pid 1.

    Pid 1 is the module's own process. The kernel drops what would end it without a word; this way a program that
    tries is told, and fails as it does where its parent has another number.
    """
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    n, m = len(refused), len(signals)
    steps = [(load, 0, 0, 4), (equal, 0, n + m + 7, arch), (load, 0, 0, 0), (at_least, n + m + 5, 0, _OTHER_ABI)]
    steps += [(equal, n + m + 4 - i, 0, number) for i, number in enumerate(refused)]
    steps += [(equal, m - i, 0, number) for i, number in enumerate(signals)]
    steps += [(give, 0, 0, _ALLOW), (load, 0, 0, _FIRST_ARGUMENT), (equal, 1, 0, 1), (give, 0, 0, _ALLOW)]
    steps += [(give, 0, 0, _REFUSE | _EPERM), (give, 0, 0, _REFUSE | _ENOSYS)]
    data = b"".join(
        code.to_bytes(2, sys.byteorder) + bytes((yes, otherwise)) + value.to_bytes(4, sys.byteorder)
        for code, yes, otherwise, value in steps
    )
    return len(steps), ctypes.create_string_buffer(data, len(data))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _become_zygote() -> int:
    """From uid 0 of bwrap's user namespace to the only one below it; pid 1 of a pid namespace that belongs to it.

    Returns a handle of the process that stays behind, whose end is the end of all.
    """
    first = os.pidfd_open(os.getpid())
    with open("/proc/self/mountinfo") as lines:  # noqa: PTH123  pathlib is not loaded here
        covers = [line.split()[4] for line in lines if line.split()[4].startswith("/proc/")]
    for place in covers[::-1]:  # a kernel shows a new /proc only to those who see all of the old one
        _call("umount2", place.encode(), _DETACH)
    _write("/proc/sys/user/max_user_namespaces", "1")
    _call("unshare", _NEW_USER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_ID} 0 1")
    _write("/proc/self/gid_map", f"{_ID} 0 1")
    if _libc.unshare(_NEW_USER) == 0:
        raise OSError("user namespaces are still to be had")
    _call("unshare", _NEW_PID)
    pid = os.fork()
    if pid:
        os.closerange(3, _MOST_HANDLES)
        os.waitpid(pid, 0)
        os._exit(0)
    _call("prctl", _PR_SET_PDEATHSIG, 9, 0, 0, 0)
    return first


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _give_up(calls: tuple[int, Sequence[int], Sequence[int], int]) -> None:
    """Give up for this process and all its children what neither it nor they need."""
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    _call("prctl", _PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)  # nothing of this process is shown to its children
    length, steps = _filter(calls[3], calls[1], calls[2])
    program = _Program(length, ctypes.addressof(steps))
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)


def _enter(order: Mapping[str, Any], no_capabilities: Callable[[], None]) -> None:
    """Leave everything that another job could share, and give up what could bring it back."""
    os.setsid()
    _call("unshare", _NEW_NS | _NEW_IPC | _NEW_NET | _NEW_CGROUP)
    for place, options in order["tmpfs"]:
        _call("mount", b"tmpfs", place, b"tmpfs", _NOSUID | _NODEV, options)
    _call("mount", b"proc", b"/proc", b"proc", _RDONLY | _NOSUID | _NODEV | _NOEXEC, None)
    loop = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(loop.fileno(), _SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + _IFF_UP.to_bytes(2, sys.byteorder) + bytes(22))
    loop.close()
    os.mkdir("/tmp/home")  # noqa: PTH102, S108
    for folder in order["folders"]:
        os.mkdir("/work/" + folder)  # noqa: PTH102
    for path, data in order["files"]:
        _put(path, data)
    os.chdir("/work")
    for limit, value in order["rlimits"]:
        resource.setrlimit(limit, (value, value))
    no_capabilities()
    _call("prctl", _PR_SET_DUMPABLE, 1, 0, 0, 0)


def _put(path: str, data: bytes) -> None:
    """One file of /work, whose folder is there and whose path the host has checked."""
    handle = os.open("/work/" + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    while data:
        data = data[os.write(handle, data) :]
    os.close(handle)


def _job(
    handles: Sequence[int], groups: Sequence[int], no_capabilities: Callable[[], None], main: Callable[[], int | None]
) -> int:
    """Everything that the child of one order does, from its start, which it reports; gives its exit code."""
    order_in, stdin, output, report = [fcntl.fcntl(handle, fcntl.F_DUPFD, _HIGH) for handle in handles]
    for number, handle in enumerate((stdin, output, output, report)):
        os.dup2(handle, number, inheritable=number < _REPORT)
    try:
        for group in groups:
            os.pwrite(group, b"0", 0)
        order = marshal.loads(os.pread(order_in, os.fstat(order_in).st_size, 0))  # noqa: S302  written by the host
        os.closerange(_REPORT + 1, _MOST_HANDLES)
        _enter(order, no_capabilities)
    except BaseException as error:  # noqa: BLE001  whatever it is, the host must hear of it
        os.write(_REPORT, f"broken: {error}".encode()[:400])
        return 1
    os.write(_REPORT, b"started\n")
    return _ended(main)


def _report_end() -> None:
    use = os.statvfs("/work")
    os.write(_REPORT, b"ended %d %d\n" % (_left(), not use.f_bavail or not use.f_favail))


def _left() -> int:
    """How many other processes of this job are alive."""
    try:
        os.kill(-1, 0)
    except ProcessLookupError:
        return 0
    return sum(name.isdigit() for name in os.listdir("/proc")) - 1  # noqa: PTH208


def _ended(main: Callable[[], int | None]) -> int:
    """The exit code of a program, as the interpreter itself would end it."""
    try:
        code = main() or 0
    except BaseException:  # noqa: BLE001  shown as the interpreter shows it
        sys.excepthook(*sys.exc_info())
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


def _tell(link: _socket.socket, word: bytes, handle: int) -> None:
    """Send a word with a handle, and let go of the handle."""
    link.sendmsg([word], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handle.to_bytes(4, sys.byteorder))])
    os.close(handle)


def _guard() -> int:
    """The first process of a new pid namespace: it only waits, in the zygote's memory, and buries orphans unseen."""
    kept = [(number, _signal.signal(number, _signal.SIG_IGN)) for number in (_signal.SIGINT, _signal.SIGCHLD)]
    top = (ctypes.addressof(_stack) + _STACK_BYTES) & -16
    pid: int = _libc.clone(_libc.pause, ctypes.c_void_p(top), _CLONE_VM | _signal.SIGCHLD, None)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")
    for number, handler in kept:
        _signal.signal(number, handler)
    return pid


class _Zygote:
    """What stays the same from order to order."""

    def __init__(
        self,
        link: _socket.socket,
        groups: Sequence[int],
        tallies: Sequence[int],
        main: Callable[[], int | None],
    ) -> None:
        self._link, self._groups, self._tallies, self._main = link, groups, tallies, main
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._capset = _CALLS[os.uname().machine][0]
        self._capabilities = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        self._waits = select.poll()
        self._waits.register(link.fileno(), 0)  # only its end: messages may be for a child
        self._space = _socket.CMSG_SPACE(64)

    def serve(self) -> None:
        """Fork a child for each order until the host hangs up; then its children die with the pid namespace."""
        while True:
            handles = self._order()
            if not handles:
                return
            _call("unshare", _NEW_PID)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    code = _job(handles, self._groups, self._no_capabilities, self._main)
                    _report_end()
                finally:
                    os._exit(code)
            _call("setns", self._own, _NEW_PID)
            for handle in handles:
                os.close(handle)
            _tell(self._link, b"born", os.pidfd_open(pid))
            if not self._await_end(pid):
                return
            _, status, used = os.wait4(pid, 0)
            self._answer(status, used, 0)

    def serve_guarded(self) -> None:
        """The same for children that are made before their orders come, and are not the first of their namespace."""
        while True:
            _call("unshare", _NEW_PID)
            first = _guard()
            _tell(self._link, b"born", os.pidfd_open(first))
            pid = os.fork()  # from here to the wait, each page that is touched is copied
            if pid == 0:
                code = 1
                try:
                    handles = self._order()
                    code = _job(handles, self._groups, self._no_capabilities, self._main) if handles else 0
                finally:
                    os._exit(code)
            _call("setns", self._own, _NEW_PID)
            if not self._await_end(pid):
                return
            _, status, used = os.wait4(pid, 0)
            left = _members(self._groups, self._tallies)
            os.kill(first, _signal.SIGKILL)
            os.waitpid(first, 0)
            self._answer(status, used, left)

    def _order(self) -> list[int]:
        """The handles of the next order; none when the host has hung up."""
        _, extra, _, _ = self._link.recvmsg(1, self._space)
        data = extra[0][2] if extra else b""
        return [int.from_bytes(data[i : i + 4], sys.byteorder) for i in range(0, len(data), 4)]

    def _no_capabilities(self) -> None:
        _call("syscall", self._capset, *self._capabilities)

    def _await_end(self, pid: int) -> bool:
        """Wait for a child's end; False when the host has hung up before."""
        child = os.pidfd_open(pid)
        self._waits.register(child, select.POLLIN)
        ready = self._waits.poll()
        self._waits.unregister(child)
        os.close(child)
        return all(handle == child for handle, _ in ready)

    def _answer(self, status: int, used: resource.struct_rusage, left: int) -> None:
        cpu_us = int((used.ru_utime + used.ru_stime) * 1e6)
        self._link.send(b"%d %d %d" % (os.waitstatus_to_exitcode(status), cpu_us, left))


def _members(groups: Sequence[int], tallies: Sequence[int]) -> int:
    """How many processes are in the groups; their file is opened anew, for the kernel keeps what it showed before."""
    if not groups or not any(int(os.pread(tally, 32, 0)) for tally in tallies):
        return 0
    handle = os.open(f"/proc/self/fd/{groups[-1]}", os.O_RDONLY)
    data = os.read(handle, _MOST_READ)
    os.close(handle)
    return data.count(b"\n")


def _loaded(module: str, entry: str, preload: Sequence[str]) -> Callable[[], int | None]:
    """The entry of the trusted module, which is found nowhere else afterwards, nor is what stands beside it."""
    folder, _, file = module.rpartition("/")
    before = set(sys.modules)
    sys.path[:] = [folder, *(path for path in sys.path if path)]
    loaded = __import__(file.removesuffix(".py"))
    found: Callable[[], int | None] = getattr(loaded, entry)
    del sys.path[0]
    for name in sys.modules.keys() - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder + "/"):
            del sys.modules[name]
    for wanted in preload:
        __import__(wanted)
    if hasattr(loaded, "warm_up"):
        loaded.warm_up()
    return found


def main(
    handle: int,
    groups: Sequence[int],
    tallies: Sequence[int],
    module: str,
    entry: str,
    preload: Sequence[str],
    *,
    guarded: bool,
) -> None:
    """Become the zygote that serves the socket `handle` with the function `entry` of the file `module`."""
    link = _socket.socket(fileno=handle)
    first = _become_zygote()
    function = _loaded(module, entry, preload)
    sys.modules["__main__"] = type(sys)("__main__")
    _give_up(_CALLS[os.uname().machine])
    gc.freeze()
    _tell(link, b"ready", first)
    zygote = _Zygote(link, groups, tallies, function)
    if guarded:
        zygote.serve_guarded()
    else:
        zygote.serve()
    os._exit(0)
