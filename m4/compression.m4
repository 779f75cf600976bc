# GPUHIST_COMPRESSION
# Looks for libzstd, which is required, and for zlib: --without-zlib does without; missing is a
# warning by default, and an error if it was asked for. Sets the macro HAVE_ZLIB and
# COMPRESSION_LIBS.
AC_DEFUN([GPUHIST_COMPRESSION], [
    AC_ARG_WITH([zlib],
        [AS_HELP_STRING([--without-zlib], [build without gzip @<:@default: use zlib if found@:>@])],
        [], [with_zlib=guess])

    gpuhist_have_zstd=no
    AC_CHECK_HEADER([zstd.h],
        [AC_CHECK_LIB([zstd], [ZSTD_DCtx_setParameter], [gpuhist_have_zstd=yes])])
    AS_VAR_IF([gpuhist_have_zstd], [yes], [],
        [AC_MSG_ERROR([libzstd 1.4 or later not found: install it with its headers (Debian: libzstd-dev)])])
    COMPRESSION_LIBS=-lzstd

    gpuhist_have_zlib=no
    gpuhist_zlib_summary="no (--without-zlib)"
    AS_VAR_IF([with_zlib], [no], [], [
        AC_CHECK_HEADER([zlib.h], [AC_CHECK_LIB([z], [inflateReset], [gpuhist_have_zlib=yes])])
        gpuhist_zlib_summary=zlib
        AS_VAR_IF([gpuhist_have_zlib], [yes], [
            AC_DEFINE([HAVE_ZLIB], [1], [Define to 1 to decode gzip with zlib.])
            COMPRESSION_LIBS="$COMPRESSION_LIBS -lz"
        ], [
            gpuhist_zlib_summary="no: zlib not found (Debian: zlib1g-dev)"
            AS_VAR_IF([with_zlib], [guess],
                [AC_MSG_WARN([building without gzip: zlib not found (Debian: zlib1g-dev)])],
                [AC_MSG_ERROR([--with-zlib: zlib not found (Debian: zlib1g-dev)])])
        ])
    ])
    AC_SUBST([COMPRESSION_LIBS])
    AC_SUBST([gpuhist_have_zlib])
])
