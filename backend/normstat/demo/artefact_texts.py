"""What the tracers of the demo printed, and what its benchmark measured."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Traced:
    """The output of a tracer, with the question that it answers."""

    title: str
    question: str
    command: str
    file: str
    seconds: int
    text: str


CROSS_CALLS: Final = Traced(
    "Cross-calls by process",
    "Who sends the cross-calls that all CPUs receive?",
    "dtrace -n 'sysinfo:::xcalls { @[execname, pid] = count(); } tick-10s { exit(0); }'",
    "xcalls.txt",
    10,
    """dtrace: description 'sysinfo:::xcalls ' matched 2 probes
CPU     ID                    FUNCTION:NAME
  3  60104                       :tick-10s

  nscd                                                      902                7
  fmd                                                       411               12
  httpd                                                    1185              981
  httpd                                                    1183             1004
  httpd                                                    1186             1017
  httpd                                                    1184             1033
  gzip                                                    14023             1288
  gtar                                                    14022            92407
""",
)

KERNEL_LOCKS: Final = Traced(
    "Kernel locks while the backup ran",
    "Which locks do the CPUs spin for?",
    "lockstat -C -D 8 sleep 10",
    "lockstat.txt",
    10,
    """
Adaptive mutex spin: 33914 events in 10.021 seconds (3384 events/sec)

Count indv cuml rcnt     nsec Lock                   Caller
-------------------------------------------------------------------------------
14220  42%  42% 0.00     3127 pse_mutex+0x1c0        page_trylock+0x38
 8127  24%  66% 0.00     2214 ufs_inode_lock         ufs_getpage+0x150
 4810  14%  80% 0.00     1940 0x30002c41a80          segmap_fault+0x1bc
 2604   8%  88% 0.00     1388 cpu[3]+0x78            cv_wait+0x58
 1721   5%  93% 0.00     1201 0x300031f0d20          putnext+0x44
  990   3%  96% 0.00      984 callout_table+0x110    timeout_common+0x30
  731   2%  98% 0.00      870 0x60012c1b000          strput+0x198
  402   1%  99% 0.00      801 kmem_cache+0x240       kmem_cache_free+0x58
-------------------------------------------------------------------------------

Adaptive mutex block: 612 events in 10.021 seconds (61 events/sec)

Count indv cuml rcnt     nsec Lock                   Caller
-------------------------------------------------------------------------------
  341  56%  56% 0.00   184022 ufs_inode_lock         ufs_getpage+0x150
  198  32%  88% 0.00    96114 pse_mutex+0x1c0        page_trylock+0x38
   73  12% 100% 0.00    51290 0x30002c41a80          segmap_fault+0x1bc
-------------------------------------------------------------------------------
""",
)

_MAIN: Final = "postgres;main;PostmasterMain;ServerLoop;BackendStartup;PostgresMain"
_STACK: Final = f"{_MAIN};exec_simple_query;PortalRun;PortalRunSelect;ExecutorRun"

_SCAN: Final = f"{_STACK};ExecLimit;ExecSort;SeqNext;table_scan_getnextslot;heap_getnextslot;heapgettup_pagemode"

STACKS_BEFORE: Final = Traced(
    "Stacks of postgres before the release",
    "Where does postgres use the CPU?",
    "perf record -F 99 -g -p $(pgrep -d, postgres) -- sleep 30; perf script | stackcollapse-perf.pl",
    "postgres-before.folded",
    30,
    f"""{_STACK};ExecLimit;ExecSort;IndexNext;index_getnext_slot;btgettuple;_bt_first;_bt_search;_bt_binsrch 402
{_STACK};ExecLimit;ExecSort;IndexNext;index_getnext_slot;index_fetch_heap;heapam_index_fetch_tuple;heap_hot_search_buffer 311
{_STACK};ExecLimit;ExecSort;tuplesort_performsort;qsort_tuple 88
{_STACK};ExecModifyTable;heap_update;XLogInsert;XLogInsertRecord 147
{_STACK};ExecModifyTable;heap_update;RelationGetBufferForTuple 61
{_MAIN};exec_simple_query;pg_plan_queries;standard_planner;query_planner 190
{_MAIN};exec_simple_query;pg_parse_query;raw_parser;base_yyparse 74
{_MAIN};ReadCommand;secure_read;recv;entry_SYSCALL_64;tcp_recvmsg 129
""",
)

STACKS_DURING: Final = Traced(
    "Stacks of postgres after the release",
    "Where does postgres use the CPU now?",
    "perf record -F 99 -g -p $(pgrep -d, postgres) -- sleep 30; perf script | stackcollapse-perf.pl",
    "postgres-during.folded",
    30,
    f"""{_SCAN};heap_page_prepare_read 7210
{_SCAN};ReadBufferExtended;pg_pread64;entry_SYSCALL_64;ext4_file_read_iter;copy_page_to_iter 4106
{_STACK};ExecLimit;ExecSort;ExecScan;ExecQual;ExecInterpExpr;texteq 5288
{_STACK};ExecLimit;ExecSort;tuplesort_performsort;qsort_tuple 93
{_STACK};ExecModifyTable;heap_update;XLogInsert;XLogInsertRecord 120
{_STACK};ExecModifyTable;heap_update;LWLockAcquire;PGSemaphoreLock;futex_wait 611
{_MAIN};exec_simple_query;pg_plan_queries;standard_planner;query_planner 181
{_MAIN};ReadCommand;secure_read;recv;entry_SYSCALL_64;tcp_recvmsg 117
""",
)

# Whether there was an index, clients, and the latency of an order search in ms; each measured twice.
BENCHMARK: Final = (
    ("yes", 1, 1.92), ("yes", 2, 1.96), ("yes", 4, 2.05), ("yes", 8, 2.41), ("yes", 16, 4.38), ("yes", 1, 1.90), ("yes", 2, 1.99),
    ("yes", 4, 2.09), ("yes", 8, 2.38), ("yes", 16, 4.51), ("no", 1, 41.3), ("no", 2, 42.0), ("no", 4, 44.8), ("no", 8, 63.1),
    ("no", 16, 128.0), ("no", 1, 41.9), ("no", 2, 42.4), ("no", 4, 45.5), ("no", 8, 61.7), ("no", 16, 131.0),
)  # fmt: skip
