# What this host's userland can do: the programs it must have, its clock, and how to read bytes from the middle of a file.

has() {
    command -v "$1" >/dev/null 2>&1
}

probe_userland() {
    for pu_tool in ls dd mv rm cp mkdir date sleep cat od id uname cmp sort; do
        has "$pu_tool" || die "this host has no $pu_tool in $PATH"
    done
    os=$(uname -s -r -m) || os=unknown
    # Not every shell knows the signal for a file that exceeds its limit. A program then dies of it, which is just as good.
    if (trap '' XFSZ) 2>/dev/null; then xfsz=XFSZ; else xfsz=''; fi
    probe_clock
    probe_reader
    if has gzip; then packer=gzip; else packer=none; fi
}

# Sets clock: how to get the epoch.
probe_clock() {
    case $(date +%s 2>/dev/null) in
    *[!0-9]* | '') clock=fields ;;
    *) clock=seconds ;;
    esac
}

# Sets now, the epoch in seconds. An old date has no %s: then it is computed from the fields that every date has.
set_now() {
    if [ "$clock" = seconds ]; then
        now=$(date +%s)
        return 0
    fi
    now=$(date -u '+%Y %j %H %M %S')
    # shellcheck disable=SC2086  # the fields are meant to be split
    set -- $now
    # The leading 1 keeps 08 and 09 from being read as octal.
    now=$(((($1 - 1970) * 365 + ($1 - 1969) / 4 - ($1 - 1901) / 100 + ($1 - 1601) / 400 + 1$2 - 1001) * 24))
    now=$((((now + 1$3 - 100) * 60 + 1$4 - 100) * 60 + 1$5 - 100))
}

# Sets reader: how to read bytes from the middle of a file. Tested on real bytes, since an old dd does not complain about an operand
# that it understands differently.
probe_reader() {
    printf '%4099s' x >"$work/probe.all"
    printf 'a\000\n\377 b' >"$work/probe.part"
    cat "$work/probe.part" >>"$work/probe.all"
    printf 'rest\n' >>"$work/probe.all"
    for pr_way in bytes iseek skip; do
        reader=$pr_way
        if read_bytes "$work/probe.all" 4099 6 >"$work/probe.got" && cmp -s "$work/probe.part" "$work/probe.got"; then
            rm -f "$work/probe.all" "$work/probe.part" "$work/probe.got"
            return 0
        fi
    done
    die "dd on this host cannot read bytes from the middle of a file"
}

# Sets size to the length of FILE. wc -c would read the whole file on an old system.
read_size() {
    size=0
    ls -lnL "$1" >"$work/one" && read -r _a _a _a _a size _b <"$work/one"
}

# Returns whether FILE has SIZE bytes.
is_size() {
    read_size "$1"
    [ "$size" = "$2" ]
}

# Writes LENGTH bytes of FILE from OFFSET on.
read_bytes() {
    if [ "$reader" = bytes ]; then
        dd if="$1" bs=65536 skip="$2" count="$3" iflag=skip_bytes,count_bytes 2>/dev/null
        return $?
    fi
    # The three share one open file: skip whole blocks, then the rest, then read the bytes as one block.
    {
        [ "$2" -lt 4096 ] || dd bs=4096 "$reader=$(($2 / 4096 - 1))" count=1 of=/dev/null
        [ $(($2 % 4096)) -eq 0 ] || dd bs=$(($2 % 4096)) count=1 of=/dev/null
        dd bs="$3" count=1
    } <"$1" 2>/dev/null
}

# Sets work to a new scratch directory, for commands that do not hold the lock. mkdir fails if it exists.
probe_scratch() {
    follow_path "${TMPDIR:-/tmp}" || die "the directory ${TMPDIR:-/tmp} (TMPDIR) does not exist"
    pc_n=0
    until work=$real/normstat-agent.$$.$pc_n && mkdir "$work" 2>/dev/null; do
        pc_n=$((pc_n + 1))
        [ "$pc_n" -lt 1000 ] || die "cannot create a directory in $real (TMPDIR)"
    done
    trap 'rm -rf "$work"' 0
    trap 'exit 1' HUP INT TERM
}

# Sets machine to two checksums by which the server notices another machine with the same name: one of ids that survive a reboot,
# which a cloned disk shares, and one of the boot, which it does not. Checksums keep the ids private.
find_machine() {
    has cksum || return 0
    fm_id=$(hostname 2>/dev/null || uname -n) fm_boot=''
    if [ -r /etc/machine-id ]; then
        read -r fm_line </etc/machine-id && fm_id="$fm_id $fm_line"
    elif has hostid; then
        fm_line=$(hostid 2>/dev/null)
        fm_id="$fm_id $fm_line"
    fi
    if has zonename; then
        fm_line=$(zonename 2>/dev/null)
        fm_id="$fm_id $fm_line"
    fi
    if [ -r /proc/sys/kernel/random/boot_id ]; then
        read -r fm_boot </proc/sys/kernel/random/boot_id
    else
        fm_boot=$(LC_ALL=C who -b 2>/dev/null)
    fi
    fm_id=$(printf '%s\n' "$fm_id" | cksum)
    fm_boot=$(printf '%s\n' "$fm_boot" | cksum)
    machine="${fm_id%%[!0-9]*}.${fm_boot%%[!0-9]*}"
}
