# Messages from packets.
foreach(name packets packet_streams packet_frames)
  es_test(measure/${name}_test SOURCES measure/frames.c
          LINKS eventspace::measure PkgConfig::PCAP)
endforeach()
# Against the trace tuples of real runs.
es_test(measure/messages_test
        SOURCES measure/hop_messages.c measure/own_network.c
                support/command.c support/scratch.c
        LINKS eventspace::measure TIMEOUT 900)
if(TARGET measure_messages_test)
  add_dependencies(measure_messages_test eventspace_cli cg is lu mg)
endif()
es_test(measure/capture_test
        SOURCES measure/frames.c measure/own_network.c support/command.c
                support/scratch.c
        LINKS eventspace::measure PkgConfig::PCAP)
es_fuzz(packets LINKS eventspace::measure PkgConfig::PCAP)
