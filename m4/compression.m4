# GPUHIST_COMPRESSION_LIBRARY(NAME, HEADER, LIBRARY, FUNCTION, PACKAGE, WHAT)
# Looks for a library: sets gpuhist_have_NAME to yes or no, and defines HAVE_NAME if it exists.
# --without-NAME disables it; a missing library is an error only if it was requested.
AC_DEFUN([GPUHIST_COMPRESSION_LIBRARY], [
    AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [$6])], [], [with_$1=guess])
    gpuhist_have_$1=no
    AS_VAR_IF([with_$1], [no], [], [
        AC_CHECK_HEADER([$2], [AC_CHECK_LIB([$3], [$4], [gpuhist_have_$1=yes])])
    ])
    AS_CASE([$gpuhist_have_$1,$with_$1],
        [yes,*], [AC_DEFINE(AS_TR_CPP([HAVE_$1]), [1], [Define to 1 if there is lib$3.])],
        [no,no|no,guess], [],
        [AC_MSG_ERROR([--with-$1: lib$3 not found: install it with its headers (Debian: $5)])])
])

# GPUHIST_COMPRESSION_SUMMARY(FORMAT, NAME, LIBRARY, PACKAGE)
# Sets gpuhist_FORMAT_summary for a format that the library NAME decodes, adds the library to
# COMPRESSION_LIBS, and warns if it is missing.
AC_DEFUN([GPUHIST_COMPRESSION_SUMMARY], [
    AS_CASE([$gpuhist_have_$2,$with_$2],
        [yes,*], [gpuhist_$1_summary=lib$3
            COMPRESSION_LIBS="$COMPRESSION_LIBS -l$3"],
        [no,no], [gpuhist_$1_summary="no (--without-$2)"],
        [gpuhist_$1_summary="no: lib$3 not found (Debian: $4)"
            AC_MSG_WARN([building without $1: lib$3 not found (Debian: $4)])])
])

# GPUHIST_COMPRESSION
# Looks for libzstd, which is required, and for the libraries of the other formats. Sets
# COMPRESSION_LIBS, ZLIB_LIBS (for the fuzzer, which compares with it), and a line for the summary
# of each format. gzip is decoded by ISA-L, or else, or with --with-zlib, by zlib.
AC_DEFUN([GPUHIST_COMPRESSION], [
    gpuhist_have_zstd=no
    AC_CHECK_HEADER([zstd.h],
        [AC_CHECK_LIB([zstd], [ZSTD_DCtx_setParameter], [gpuhist_have_zstd=yes])])
    AS_VAR_IF([gpuhist_have_zstd], [yes], [],
        [AC_MSG_ERROR([libzstd 1.4 or later not found: install it with its headers (Debian: libzstd-dev)])])
    COMPRESSION_LIBS=-lzstd

    GPUHIST_COMPRESSION_LIBRARY([zlib], [zlib.h], [z], [inflateReset], [zlib1g-dev],
        [do not use zlib, which decodes gzip where there is no ISA-L; --with-zlib prefers it @<:@default: use it if found@:>@])
    AS_IF([test "x$with_zlib" = xyes && test "x$with_isal" = x], [with_isal=no])
    GPUHIST_COMPRESSION_LIBRARY([isal], [isa-l.h], [isal], [isal_inflate], [libisal-dev],
        [do not use ISA-L, which decodes gzip faster than zlib @<:@default: use it if found@:>@])
    GPUHIST_COMPRESSION_LIBRARY([lzma], [lzma.h], [lzma], [lzma_stream_decoder], [liblzma-dev],
        [build without xz @<:@default: use liblzma if found@:>@])
    GPUHIST_COMPRESSION_LIBRARY([bz2], [bzlib.h], [bz2], [BZ2_bzDecompress], [libbz2-dev],
        [build without bzip2 @<:@default: use libbz2 if found@:>@])
    GPUHIST_COMPRESSION_LIBRARY([lz4], [lz4frame.h], [lz4], [LZ4F_decompress], [liblz4-dev],
        [build without lz4 @<:@default: use liblz4 if found@:>@])

    ZLIB_LIBS=
    AS_VAR_IF([gpuhist_have_zlib], [yes], [ZLIB_LIBS=-lz])
    AS_IF([test "x$gpuhist_have_isal" = xyes || test "x$gpuhist_have_zlib,$with_zlib" = xno,no],
        [GPUHIST_COMPRESSION_SUMMARY([gzip], [isal], [isal], [libisal-dev])],
        [GPUHIST_COMPRESSION_SUMMARY([gzip], [zlib], [z], [libisal-dev or zlib1g-dev])])
    GPUHIST_COMPRESSION_SUMMARY([xz], [lzma], [lzma], [liblzma-dev])
    GPUHIST_COMPRESSION_SUMMARY([bzip2], [bz2], [bz2], [libbz2-dev])
    GPUHIST_COMPRESSION_SUMMARY([lz4], [lz4], [lz4], [liblz4-dev])
    AC_SUBST([COMPRESSION_LIBS])
    AC_SUBST([ZLIB_LIBS])
    AC_SUBST([gpuhist_have_zlib])
    AC_SUBST([gpuhist_have_isal])
    AC_SUBST([gpuhist_have_lzma])
    AC_SUBST([gpuhist_have_bz2])
    AC_SUBST([gpuhist_have_lz4])
])
