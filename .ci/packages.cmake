# Debian packages by CPack: `adamant`, the program, and `libadamant-sim-dev`, the simulator for other
# people's programs. Both are stripped; the lines that reports name are in `adamant-dbgsym`. Which
# distribution they are for is that of the machine that builds them, in the package's version.
cmake_host_system_information(RESULT distribution QUERY DISTRIB_INFO)
string(TIMESTAMP built "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where it is set

set(CPACK_PACKAGE_VENDOR adamant)
set(CPACK_PACKAGE_CONTACT "The adamant project <maintainers@adamant.invalid>")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${distribution_ID}${distribution_VERSION_ID})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program sim)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME adamant)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS adamant-dbgsym)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "tests of sharded Adam optimizers on a simulated machine
adamant runs CUDA and NCCL code, or somebody else's training engine, under
schedules that it chooses. It checks every memory access, and compares every
bit with an oracle that has no shards. It needs no GPU. Reports name lines and
kernels of its own engine where adamant-dbgsym is installed, too.")

set(CPACK_DEBIAN_SIM_PACKAGE_NAME libadamant-sim-dev)
set(CPACK_DEBIAN_SIM_PACKAGE_SECTION libdevel)
string(JOIN ", " CPACK_DEBIAN_SIM_PACKAGE_DEPENDS "cmake (>= 3.25)" "g++ (>= 4:12)"
  "make | ninja-build" libboost-context-dev libdw-dev libfmt-dev pkg-config)
set(CPACK_COMPONENT_SIM_DESCRIPTION "simulated CUDA runtime and NCCL that checks every access
Plain CUDA C++ is compiled against these headers and runs on a CPU: every rank
in one process, under schedules that one seed decides, each race named with
its lines. CMake finds it as the package adamant.")

# What Debian wants to know of each package: whose it is, and what changed.
set(said ${PROJECT_BINARY_DIR}/packages)
file(WRITE ${said}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 the adamant project
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.
")
foreach(component program sim)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(changelog ${said}/${package}/changelog.Debian)
  file(WRITE ${changelog} "${package} (${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * .github/CHANGELOG.md in the sources says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${built}
")
  execute_process(COMMAND gzip -9nf ${changelog} COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${said}/copyright ${changelog}.gz DESTINATION share/doc/${package}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

include(CPack)
