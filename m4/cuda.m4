# GPUHIST_CUDA
# Looks for the CUDA Toolkit: --with-cuda=DIR names it, --with-cuda=no disables it. A missing toolkit
# is a warning by default, and an error if it was requested. Sets the conditional HAVE_CUDA, the macro of
# that name, and NVCC, NVCC_GENCODE, NVCC_HOSTFLAGS, CUDA_CPPFLAGS, CUDA_LIBS.
AC_DEFUN([GPUHIST_CUDA], [
    AC_ARG_WITH([cuda],
        [AS_HELP_STRING([--with-cuda@<:@=DIR|no@:>@],
            [use the CUDA Toolkit in DIR @<:@default: in the place of nvcc on PATH, or
             /usr/local/cuda; none if there is none@:>@])],
        [], [with_cuda=guess])
    AC_ARG_WITH([nvcc-gencode],
        [AS_HELP_STRING([--with-nvcc-gencode=LIST],
            [GPU architectures to make code for, such as 80,90, or native for the GPUs of this
             machine @<:@default: 75,80,86,89,90,100,120 as far as nvcc knows them@:>@])],
        [], [with_nvcc_gencode=default])
    AC_ARG_VAR([NVCC], [the CUDA compiler])

    gpuhist_have_cuda=no
    gpuhist_cuda_problem=
    AS_VAR_IF([with_cuda], [no], [gpuhist_cuda_summary="no (--with-cuda=no)"],
        [GPUHIST_CUDA_FIND])
    AS_VAR_IF([gpuhist_have_cuda], [yes], [
        GPUHIST_CUDA_GENCODE
        AC_DEFINE([HAVE_CUDA], [1], [Define to 1 to build the CUDA engine.])
        gpuhist_cuda_summary="$NVCC $NVCC_GENCODE"
    ], [AS_VAR_IF([with_cuda], [no], [], [
        gpuhist_cuda_summary="no: $gpuhist_cuda_problem"
        AS_VAR_IF([with_cuda], [guess],
            [AC_MSG_WARN([building without CUDA: $gpuhist_cuda_problem])],
            [AC_MSG_ERROR([--with-cuda=$with_cuda: $gpuhist_cuda_problem])])
    ])])
    AM_CONDITIONAL([HAVE_CUDA], [test "x$gpuhist_have_cuda" = xyes])
    AC_SUBST([NVCC])
    AC_SUBST([NVCC_GENCODE])
    AC_SUBST([NVCC_HOSTFLAGS])
    AC_SUBST([CUDA_CPPFLAGS])
    AC_SUBST([CUDA_LIBS])
    AS_VAR_IF([gpuhist_have_cuda], [yes], [gpuhist_distcheck_cuda=$gpuhist_cuda_home],
        [gpuhist_distcheck_cuda=no])
    AC_SUBST([gpuhist_distcheck_cuda])
    AC_SUBST([gpuhist_distcheck_gencode], [$with_nvcc_gencode])
])

# Finds nvcc, the headers and the static runtime. Sets gpuhist_have_cuda, or gpuhist_cuda_problem.
AC_DEFUN([GPUHIST_CUDA_FIND], [
    AS_CASE([$with_cuda],
        [yes|guess], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])],
        [NVCC="$with_cuda/bin/nvcc"])
    AS_IF([test -z "$NVCC" || test ! -x "$NVCC"],
        [gpuhist_cuda_problem="${NVCC:-nvcc} not found"],
        [GPUHIST_CUDA_TRY])
])

# Compiles a kernel and links it with the C compiler, as for the program. The toolkit has a folder
# for each type of machine: sbsa-linux (server base system architecture) for aarch64.
AC_DEFUN([GPUHIST_CUDA_TRY], [
    gpuhist_cuda_home=`AS_DIRNAME(["$NVCC"])`
    gpuhist_cuda_home=`cd "$gpuhist_cuda_home/.." && pwd -P`
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __aarch64__
#error
#endif
]])],
        [gpuhist_cuda_target=targets/sbsa-linux gpuhist_multiarch=aarch64-linux-gnu],
        [gpuhist_cuda_target=targets/x86_64-linux gpuhist_multiarch=x86_64-linux-gnu])
    gpuhist_dir=include
    AS_IF([test -d "$gpuhist_cuda_home/$gpuhist_cuda_target/include"],
        [gpuhist_dir=$gpuhist_cuda_target/include])
    CUDA_CPPFLAGS="-isystem $gpuhist_cuda_home/$gpuhist_dir"
    gpuhist_cuda_lib=
    for gpuhist_dir in $gpuhist_cuda_target/lib lib64 lib lib/$gpuhist_multiarch
    do
        AS_IF([test -z "$gpuhist_cuda_lib" && test -f "$gpuhist_cuda_home/$gpuhist_dir/libcudart_static.a"],
            [gpuhist_cuda_lib="$gpuhist_cuda_home/$gpuhist_dir"])
    done
    CUDA_LIBS="-L$gpuhist_cuda_lib -lcudart_static -ldl -lrt -lpthread"

    # Without these, nvcc's output needs the C++ run-time library.
    NVCC_HOSTFLAGS="-Xcompiler -fno-exceptions,-fno-rtti,-fno-threadsafe-statics"

    AC_MSG_CHECKING([whether $NVCC compiles and links])
    cat >conftest.cu <<'_ACEOF'
#include <cuda_runtime_api.h>
__global__ void kernel(int *x) { *x = 1; }
extern "C" int launch(int *x);
extern "C" int launch(int *x) { kernel<<<1, 1>>>(x); return (int)cudaGetLastError(); }
_ACEOF
    AS_IF([test -z "$gpuhist_cuda_lib"],
            [gpuhist_cuda_problem="libcudart_static.a not found in $gpuhist_cuda_home"],
          [! "$NVCC" -std=c++17 $NVCC_HOSTFLAGS -c conftest.cu -o conftest-cuda.$OBJEXT >&AS_MESSAGE_LOG_FD 2>&1],
            [gpuhist_cuda_problem="$NVCC cannot compile (see config.log)"], [
        gpuhist_saved_LIBS=$LIBS
        LIBS="conftest-cuda.$OBJEXT $CUDA_LIBS $LIBS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([int launch(int *x);], [return launch(0);])],
            [gpuhist_have_cuda=yes],
            [gpuhist_cuda_problem="the CUDA runtime does not link (see config.log)"])
        LIBS=$gpuhist_saved_LIBS
    ])
    rm -f conftest.cu conftest-cuda.$OBJEXT
    AC_MSG_RESULT([$gpuhist_have_cuda])
])

# Sets NVCC_GENCODE from --with-nvcc-gencode: machine code for each architecture, PTX for the last.
AC_DEFUN([GPUHIST_CUDA_GENCODE], [
    AS_CASE([$with_nvcc_gencode],
        [native], [NVCC_GENCODE=-arch=native],
        [default|*[[0-9]]*], [
            gpuhist_known=`"$NVCC" --list-gpu-code 2>/dev/null | tr '\n' ' '`
            gpuhist_wanted=`echo "$with_nvcc_gencode" | tr ',' ' '`
            AS_VAR_IF([with_nvcc_gencode], [default], [gpuhist_wanted="75 80 86 89 90 100 120"])
            NVCC_GENCODE=
            gpuhist_last=
            for gpuhist_arch in $gpuhist_wanted
            do
                AS_CASE([" $gpuhist_known "],
                    [*" sm_$gpuhist_arch "*], [
                        NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$gpuhist_arch,code=sm_$gpuhist_arch"
                        gpuhist_last=$gpuhist_arch
                    ],
                    [AS_VAR_IF([with_nvcc_gencode], [default], [],
                        [AC_MSG_ERROR([--with-nvcc-gencode: $NVCC knows no sm_$gpuhist_arch])])])
            done
            AS_VAR_IF([gpuhist_last], [],
                [AC_MSG_ERROR([--with-nvcc-gencode: no architecture left of $gpuhist_wanted])])
            NVCC_GENCODE="$NVCC_GENCODE -gencode arch=compute_$gpuhist_last,code=compute_$gpuhist_last"
        ],
        [AC_MSG_ERROR([--with-nvcc-gencode=$with_nvcc_gencode: expected numbers or native])])
])
