# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Gpuhist(AutotoolsPackage, CudaPackage):
    """Counts values in large files, exactly and fast: frequency tables, histograms, percentiles and
    grouped statistics of web logs, CSV, JSON Lines, logfmt, NumPy arrays and raw binary numbers,
    compressed or not, on all CPU cores and on GPUs."""

    # Replace both by the address of published releases.
    homepage = "https://gpuhist.example.org"
    url = "https://gpuhist.example.org/gpuhist-0.3.0.tar.xz"

    license("MIT")

    # Add sha256="..." of the published tarball. Without it: spack install --no-checksum
    version("0.3.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")  # nvcc's host compiler

    depends_on("zstd@1.4:")
    depends_on("isa-l")
    depends_on("xz")
    depends_on("bzip2")
    depends_on("lz4")
    depends_on("cuda@12:", when="+cuda")

    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    def configure_args(self):
        args = ["--with-isal", "--with-lzma", "--with-bz2", "--with-lz4"]
        if self.spec.satisfies("~cuda"):
            return args + ["--with-cuda=no"]
        args.append(f"--with-cuda={self.spec['cuda'].prefix}")
        architectures = self.spec.variants["cuda_arch"].value
        if "none" not in architectures:  # otherwise machine code for configure's default architectures
            args.append(f"--with-nvcc-gencode={','.join(architectures)}")
        return args
