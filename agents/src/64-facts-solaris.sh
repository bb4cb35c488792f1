# Facts about a Solaris host, from its programs and files.

print_solaris_facts() {
    if [ -r /etc/release ] && read -r pf_value </etc/release; then print_fact system "$pf_value"; fi
    pf_value=$(uname -i 2>/dev/null)
    print_fact hardware "$pf_value"
    if has isainfo; then
        pf_value=$(isainfo -k 2>/dev/null)
        print_fact kernel_isa "$pf_value"
    fi
    print_solaris_cpus
    print_solaris_memory
    print_zones
    print_etc_system
    print_solaris_programs
    [ -r /etc/mnttab ] || return 0
    while read -r pf_device pf_point pf_type _a; do
        case $pf_type in
        ufs | zfs | nfs | vxfs | samfs) print_fact "mount $pf_point" "$pf_type $pf_device" ;;
        esac
    done </etc/mnttab
}

# Prints how many CPUs there are, on how many chips, of which model and speed; the CPUs of each processor set; the time of the boot.
print_solaris_cpus() {
    if has psrinfo; then
        pf_list=$(psrinfo 2>/dev/null)
        pf_cpus=0
        while read -r _a pf_value _b; do
            case $pf_value in
            on-line | no-intr) pf_cpus=$((pf_cpus + 1)) ;;
            esac
        done <<END
$pf_list
END
        [ "$pf_cpus" -eq 0 ] || print_fact cpus "$pf_cpus"
        pf_chips=$(psrinfo -p 2>/dev/null)
        ! is_count "$pf_chips" || print_fact cpu_chips "$pf_chips"
    fi
    if has kstat; then
        pf_list=$(kstat -p 'cpu_info:::brand' 'cpu_info:::clock_MHz' 'unix:0:system_misc:boot_time' 'unix:0:system_pages:physmem' 2>/dev/null)
        print_kstat cpu_model brand
        print_kstat cpu_mhz clock_MHz
        print_kstat boot_time boot_time
        print_kstat memory_pages physmem
    fi
    if has psrset; then
        # `user processor set 1: processors 2 3`, `processor 2`, `empty`.
        pf_list=$(psrset -i 2>/dev/null)
        while IFS=: read -r pf_name pf_value; do
            case $pf_name in
            *'processor set '[0-9]*)
                pf_value=${pf_value# }
                pf_value=${pf_value#processor}
                pf_value=${pf_value#s}
                print_fact "processor_set ${pf_name##* }" "${pf_value# }"
                ;;
            esac
        done <<END
$pf_list
END
    fi
}

# Prints the memory that is installed, and the size of swap.
print_solaris_memory() {
    if has prtconf; then
        pf_list=$(prtconf 2>/dev/null)
        while read -r pf_name pf_value pf_size pf_unit _a; do
            [ "$pf_name $pf_value" != 'Memory size:' ] || break
        done <<END
$pf_list
END
        case $pf_name:$pf_unit in
        Memory:Megabytes) ! is_count "$pf_size" || print_fact memory_kb $((pf_size * 1024)) ;;
        esac
    fi
    if has swap; then
        pf_list=$(swap -l 2>/dev/null)
        pf_blocks=0
        # swapfile, dev, swaplo, blocks, free: in blocks of 512 bytes.
        while read -r _a _b _c pf_value _d; do
            ! is_count "$pf_value" || pf_blocks=$((pf_blocks + pf_value))
        done <<END
$pf_list
END
        [ "$pf_blocks" -eq 0 ] || print_fact swap_kb $((pf_blocks / 2))
    fi
}

# Prints the zone of the agent, and each zone that it sees with its state, brand, folder and number.
print_zones() {
    if has zonename; then
        pf_value=$(zonename 2>/dev/null)
        print_fact zone "$pf_value"
    fi
    has zoneadm || return 0
    pf_list=$(zoneadm list -cp 2>/dev/null)
    # ID:NAME:STATE:FOLDER:UUID:BRAND:IP. Old releases end at FOLDER or UUID. A zone that is not ready has no ID, but - instead.
    # Without -r, so that \: is no separator.
    # shellcheck disable=SC2162
    while IFS=: read pf_id pf_name pf_state pf_folder _a pf_brand _b; do
        case $pf_name in
        '' | global) continue ;;
        esac
        ! is_count "$pf_id" || pf_state="$pf_state as $pf_id"
        print_fact "zone_state $pf_name" "$pf_state${pf_brand:+, $pf_brand}, $pf_folder"
    done <<END
$pf_list
END
}

# Prints each distinct value of STATISTIC in pf_list as fact NAME.
print_kstat() {
    pk_seen=$NL
    while IFS="$TAB" read -r pk_name pk_value; do
        case $pk_name in
        *":$2") ;;
        *) continue ;;
        esac
        case $pk_seen in
        *"$NL$pk_value$NL"*) continue ;;
        esac
        pk_seen="$pk_seen$pk_value$NL"
        print_fact "$1" "$pk_value"
    done <<END
$pf_list
END
}

# Prints the settings of /etc/system: `set ufs_HW = 1`, `set zfs:zfs_arc_max=0x1000`.
print_etc_system() {
    [ -r /etc/system ] || return 0
    while read -r pe_word pe_rest; do
        case $pe_word:$pe_rest in
        set:*=*)
            pe_name=${pe_rest%%=*}
            pe_value=${pe_rest#*=}
            print_fact "etc_system ${pe_name%%[ "$TAB"]*}" "${pe_value#"${pe_value%%[! "$TAB"]*}"}"
            ;;
        esac
    done </etc/system
}

# Prints the same facts for the JVMs of Solaris, from pargs.
print_solaris_programs() {
    has pargs || return 0
    ps -e -o pid= -o etime= -o comm= 2>/dev/null | while read -r ps_pid ps_age ps_name _a; do
        case ${ps_name##*/}:$ps_age in
        java:*-* | java:*:*:* | java:[1-9]?:??) ;;
        *) continue ;;
        esac
        # argv[1]: -Xmx2g
        pargs "$ps_pid" 2>/dev/null | while read -r ps_key ps_value; do
            case $ps_key in
            'argv[0]:') ;;
            'argv['*) printf '%s\n' "$ps_value" ;;
            esac
        done | print_jvm
        pargs -e "$ps_pid" 2>/dev/null | while read -r _b ps_value; do
            case $ps_value in
            LD_PRELOAD=?*) print_fact 'ld_preload java' "${ps_value#*=}" ;;
            esac
        done
    done | sort -u
}
