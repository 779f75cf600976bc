# GPUHIST_WARNINGS
# Sets GPUHIST_CFLAGS to the language standard, the warnings, and an option that floating-point
# operations never trap, so that loops with conditions become vector code; --enable-werror makes them errors.
AC_DEFUN([GPUHIST_WARNINGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
    GPUHIST_CFLAGS="-std=gnu17 -fno-trapping-math -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes dnl
-Wmissing-prototypes -Wvla -Wformat=2"
    AS_VAR_IF([enable_werror], [yes], [GPUHIST_CFLAGS="$GPUHIST_CFLAGS -Werror"])
    AC_SUBST([GPUHIST_CFLAGS])
])

# GPUHIST_SANITIZERS
# --enable-asan, --enable-ubsan, --enable-tsan: adds the flags to GPUHIST_CFLAGS and GPUHIST_LDFLAGS.
# SANITIZED is defined then.
AC_DEFUN([GPUHIST_SANITIZERS], [
    AC_ARG_ENABLE([asan],
        [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer])])
    AC_ARG_ENABLE([ubsan],
        [AS_HELP_STRING([--enable-ubsan], [build with UndefinedBehaviorSanitizer])])
    AC_ARG_ENABLE([tsan],
        [AS_HELP_STRING([--enable-tsan], [build with ThreadSanitizer])])

    gpuhist_sanitizers=
    AS_VAR_IF([enable_asan], [yes], [gpuhist_sanitizers="$gpuhist_sanitizers -fsanitize=address"])
    AS_VAR_IF([enable_ubsan], [yes],
        [gpuhist_sanitizers="$gpuhist_sanitizers -fsanitize=undefined -fno-sanitize-recover=all"])
    AS_VAR_IF([enable_tsan], [yes], [
        AS_VAR_IF([enable_asan], [yes],
            [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
        gpuhist_sanitizers="$gpuhist_sanitizers -fsanitize=thread"
    ])
    AS_VAR_IF([gpuhist_sanitizers], [], [],
        [gpuhist_sanitizers="$gpuhist_sanitizers -fno-omit-frame-pointer -DSANITIZED"])
    GPUHIST_CFLAGS="$GPUHIST_CFLAGS$gpuhist_sanitizers"
    AC_SUBST([GPUHIST_LDFLAGS], [$gpuhist_sanitizers])
])

# GPUHIST_COVERAGE
# --enable-gcov: counts which lines are run, by all threads. Call it after GPUHIST_SANITIZERS.
AC_DEFUN([GPUHIST_COVERAGE], [
    AC_ARG_ENABLE([gcov],
        [AS_HELP_STRING([--enable-gcov], [count which lines are run; make coverage sums up])])
    AS_VAR_IF([enable_gcov], [yes], [
        GPUHIST_CFLAGS="$GPUHIST_CFLAGS --coverage -fprofile-update=atomic"
        GPUHIST_LDFLAGS="$GPUHIST_LDFLAGS --coverage"
    ])
])

# GPUHIST_FAULTS
# --enable-faults: sets the conditional FAULTS, to build tests/faults/faults.c in. The linker must see each
# call under its own name, not under that of a variant that checks the size of a buffer.
AC_DEFUN([GPUHIST_FAULTS], [
    AC_ARG_ENABLE([faults],
        [AS_HELP_STRING([--enable-faults],
            [let calls of the C library and of CUDA fail on demand, for tests (see tests/faults/faults.c)])])
    AM_CONDITIONAL([FAULTS], [test "x$enable_faults" = xyes])
    AS_VAR_IF([enable_faults], [yes], [GPUHIST_CFLAGS="$GPUHIST_CFLAGS -U_FORTIFY_SOURCE"])
])
