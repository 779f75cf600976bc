# GPUHIST_WARNINGS
# Sets GPUHIST_CFLAGS to the language standard and the warnings; --enable-werror makes them errors.
AC_DEFUN([GPUHIST_WARNINGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
    GPUHIST_CFLAGS="-std=gnu17 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes dnl
-Wmissing-prototypes -Wvla -Wformat=2"
    AS_VAR_IF([enable_werror], [yes], [GPUHIST_CFLAGS="$GPUHIST_CFLAGS -Werror"])
    AC_SUBST([GPUHIST_CFLAGS])
])

# GPUHIST_SANITIZERS
# --enable-asan, --enable-ubsan, --enable-tsan: adds the flags to GPUHIST_CFLAGS and GPUHIST_LDFLAGS.
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
        [gpuhist_sanitizers="$gpuhist_sanitizers -fno-omit-frame-pointer"])
    GPUHIST_CFLAGS="$GPUHIST_CFLAGS$gpuhist_sanitizers"
    AC_SUBST([GPUHIST_LDFLAGS], [$gpuhist_sanitizers])
])
