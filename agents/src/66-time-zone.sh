# The fact time_zone: the name of the host's time zone, or else its offset from UTC.

# Prints the time zone of the host: its name if the system has one, else its current offset from UTC if date knows it.
print_time_zone() {
    pt_tz=$NORMSTAT_TZ
    find_zone_name "$pt_tz"
    # A TZ with the path of another file, such as :/etc/localtime, leaves the zone to the system.
    case $pt_tz in
    :/* | /*) pt_tz='' ;;
    esac
    if [ -z "$zone_name$pt_tz" ]; then
        if [ -r /proc/meminfo ]; then find_linux_zone; else find_solaris_zone; fi
    fi
    if [ -z "$zone_name" ]; then
        # TZ may hold rules instead of a name: CET-1CEST,M3.5.0,M10.5.0/3.
        zone_name=$(if [ -n "$pt_tz" ]; then TZ=$pt_tz; else unset TZ; fi && date +%z 2>/dev/null)
        case $zone_name in
        [+-][01][0-9][0-5][0-9]) ;;
        *) zone_name='' ;;
        esac
    fi
    print_fact time_zone "$zone_name"
}

# Sets zone_name to the time zone's name in a value of TZ or in the path of a zone's file, or to nothing if it holds none.
find_zone_name() {
    zone_name=${1#:}
    zone_name=${zone_name##*zoneinfo/}
    zone_name=${zone_name#posix/}
    zone_name=${zone_name#right/}
    case $zone_name in
    '' | localtime | [!A-Za-z]* | *[!A-Za-z0-9_+/-]*) zone_name='' ;;
    *[!/]/[!/]*) ;;
    *)
        # MET is a name, and so is EST5EDT; CET-1CEST is a rule.
        for fz_folder in /usr/share/zoneinfo /usr/share/lib/zoneinfo; do
            [ ! -f "$fz_folder/$zone_name" ] || return 0
        done
        zone_name=''
        ;;
    esac
}

# Sets zone_name from the files of a Linux. /etc/localtime decides. If it is a copy, a name in another file counts if the zone of
# that name has the same contents.
find_linux_zone() {
    if [ -h /etc/localtime ]; then
        # shellcheck disable=SC2012  # not every host has readlink
        fl_link=$(ls -l /etc/localtime 2>/dev/null)
        find_zone_name "${fl_link##* -> }"
        return 0
    fi
    if read_first /etc/timezone; then
        find_zone_name "$first_line"
    elif [ -r /etc/sysconfig/clock ]; then
        find_assigned_zone ZONE /etc/sysconfig/clock
    fi
    if [ -n "$zone_name" ] && [ -f /etc/localtime ] && ! cmp -s /etc/localtime "/usr/share/zoneinfo/$zone_name"; then
        zone_name=''
    fi
}

find_solaris_zone() {
    for fs_file in /etc/default/init /etc/TIMEZONE; do
        [ -z "$zone_name" ] || return 0
        [ -r "$fs_file" ] || continue
        find_assigned_zone TZ "$fs_file"
        # Solaris 11 keeps the name elsewhere.
        if [ "$fs_value" = localtime ] && has svcprop; then
            fs_value=$(svcprop -p timezone/localtime svc:/system/timezone:default 2>/dev/null)
            find_zone_name "$fs_value"
        fi
    done
}

# Sets fs_value to the last value that NAME= has in FILE, and zone_name to the zone that it names.
find_assigned_zone() {
    fs_value=''
    while IFS='=' read -r fa_name fa_value; do
        [ "$fa_name" != "$1" ] || fs_value=$fa_value
    done <"$2"
    fs_value=${fs_value%"$CR"}
    fs_value=${fs_value#[\"\']}
    fs_value=${fs_value%[\"\']}
    find_zone_name "$fs_value"
}
