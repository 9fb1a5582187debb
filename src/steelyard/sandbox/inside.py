"""Shell scripts that run inside a container: the launcher of a command, and reading and writing one file.

They use sh and a few plain programs, so that any ordinary image will do. Paths and arguments come as "$@", never as
shell text. A path is walked folder by folder and a link on the way ends it; nothing else is alive meanwhile.
`LAUNCH` says on stderr that it started, drops stderr before any code of others runs, runs the command under `timeout`
and with a clean environment (first in line for the kernel when memory runs out), counts what is left, ends it,
empties /tmp, and reports. The report is a diagnosis: code inside could write one, and what must hold is checked from
outside (`container`).
Source: POSIX sh; GNU and busybox `timeout`, `stat -c`, `find -delete`.
Easy to break: forking right after `kill -9 -1` while the dead still count; `cd` without -P, which joins long paths.
"""

from __future__ import annotations

import re

import msgspec

from steelyard.sandbox.workspace import WORK

_KEPT = 3  # processes that are always there: docker-init, the keeper, the launcher itself

LINK, ABSENT, NO_FOLDER, DENIED, ODD, FULL = range(111, 117)
"""Exit codes of the scripts: a link on the way, nothing there, a file on the way, no permission, not a plain file, no
space."""

# A command may have taken its own folder's rights away.
_ENTER = f"""cd -P {WORK} 2>/dev/null && [ -r . -a -w . ] || chmod u+rwx {WORK} 2>/dev/null
cd -P {WORK} || exit {DENIED}
"""

_WALK = f"""{_ENTER}rest=$1; make=$2
while [ "${{rest#*/}}" != "$rest" ]; do
  part=${{rest%%/*}}; rest=${{rest#*/}}
  [ ! -L "./$part" ] || exit {LINK}
  if [ ! -e "./$part" ]; then
    [ -n "$make" ] || exit {ABSENT}
    mkdir "./$part" 2>/dev/null || exit {FULL}
  fi
  [ -d "./$part" ] || exit {NO_FOLDER}
  [ -r "./$part" -a -w "./$part" -a -x "./$part" ] || chmod u+rwx "./$part" || exit {DENIED}
  cd -P "./$part" || exit {DENIED}
done
"""

READ = (
    _WALK
    + f"""[ ! -L "./$rest" ] || exit {LINK}
[ -e "./$rest" ] || exit {ABSENT}
set -- "$3" $(stat -c '%f %h %s' "./$rest")
echo "$2 $3 $4"
if [ -f "./$rest" ] && [ "$3" = 1 ] && [ "$4" -le "$1" ]; then
  [ -r "./$rest" ] || chmod u+r "./$rest"
  exec cat "./$rest"
fi
"""
)
"""Arguments: path, "", the most bytes. Prints mode (hexadecimal), names and size, then the content of a plain file."""

WRITE = (
    _WALK
    + f"""[ ! -L "./$rest" ] || exit {LINK}
if [ -e "./$rest" ]; then
  if [ ! -f "./$rest" ] || [ "$(stat -c %h "./$rest")" != 1 ]; then stat -c '%f %h %s' "./$rest"; exit {ODD}; fi
  [ -w "./$rest" ] || chmod u+w "./$rest"
fi
cat > "./$rest" || exit {FULL}
"""
)
"""Arguments: path, "make". Takes the content from standard input."""

UNPACK = 'cd -P "$1" && exec tar -x -m -o -f -'

_OPEN = _ENTER + "chmod -R u+rwX . 2>/dev/null\n"
PACK = _OPEN + "find . -type s -print0 >&2 2>/dev/null\nexec tar -c -f - ."
"""The whole work tree as a tar on stdout, the names of its sockets (tar leaves them out) on stderr."""

LIST = _OPEN + "exec find . -type f -links 1 -print0"

LAUNCH = f"""folder=$1/x file_blocks=$2 cpu_s=$3 wall_s=$4
shift 4
walk() {{
{_WALK}}}
walk "$folder" ""
echo started >&2
exec 3>&2 2>/dev/null
echo 1000 > /proc/self/oom_score_adj
ulimit -f "$file_blocks"; ulimit -t "$cpu_s"
(exec 2>&1 3>&-; exec timeout -s KILL "$wall_s" env -i "$@")
rc=$?
set -- /proc/[0-9]*
left=$(($# - {_KEPT}))
for process do  # busybox's timeout leaves its watch behind for a moment
  read -r name < "$process/comm" && [ "$name" = timeout ] && left=$((left - 1))
done
kill -9 -1
tries=0
while set -- /proc/[0-9]*; [ $# -gt {_KEPT} ] && [ $tries -lt 5000 ]; do tries=$((tries + 1)); done
find /tmp /dev/shm -mindepth 1 -delete || {{
  find /tmp /dev/shm -mindepth 1 -type d -exec chmod u+rwx {{}} \\;
  find /tmp /dev/shm -mindepth 1 -delete
}}
mkdir /tmp/home
echo "ended $rc $left $(stat -f -c '%a %d' {WORK})" >&3
exit $rc"""
"""Arguments: folder, the largest file in blocks of 512 bytes, CPU and wall seconds, then those of `env -i`."""

START = "mkdir /tmp/home"
MARK = b"started\n"
_REPORT = re.compile(r"^ended (\d+) (-?\d+) (\d+) (\d+)$", re.MULTILINE)


class Report(msgspec.Struct, frozen=True):
    """What the launcher said at its end: exit code, processes that were left, whether the work tree is full."""

    rc: int
    left: int
    full: bool


def report_in(side: str) -> Report | None:
    """The launcher's last report on the side channel; None when it was ended before it could give one."""
    found = _REPORT.findall(side)
    if not found:
        return None
    rc, left, blocks, entries = map(int, found[-1])
    return Report(rc, max(left, 0), not blocks or not entries)
