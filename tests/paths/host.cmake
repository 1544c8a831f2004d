# Hosts as processes: operations here and there, held operations, strangers.
set(hosts_support support/hosts.c support/process.c support/scratch.c
                  paths/wrappers.c)
es_test(paths/host_test LINKS eventspace::paths SOURCES ${hosts_support}
        TIMEOUT 600)
