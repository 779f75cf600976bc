#!/usr/bin/env bash
# Prints the level of a recording: the number of samples, the peak and the root mean square relative
# to full scale, and the mean, which is 0 unless the recorder had a DC offset. Samples are signed
# 16-bit integers, little endian, as in a WAV file; all channels are taken together.
#
# Usage: audio-level.sh [FILE]     a WAV file with the usual header of 44 bytes, or raw samples if
#                                  the name does not end in .wav; "-" is raw standard input;
#                                  default: a sample of 10 ms
# Environment: GPUHIST
set -euo pipefail

gpuhist=${GPUHIST:-gpuhist}

# Converts numbers, one a line, to little-endian 16-bit integers.
i16() {
    printf '%b' "$(awk '{ v = ($1 + 65536) % 65536; printf "\\0%03o\\0%03o", v % 256, int(v / 256) }')"
}

if [ $# -eq 0 ]; then
    sample=$(mktemp -d)
    trap 'rm -rf "$sample"' EXIT
    seq 0 479 | awk '{ print int(100 + 16384 * sin($1 * 3.14159265 / 24)) }' | i16 >"$sample/sine"
    set -- "$sample/sine"
fi

# gpuhist reads standard input from its current offset: after the header.
[ "$1" = - ] || exec <"$1"
if [[ $1 == *.wav ]]; then
    head -c 44 >/dev/null
fi
"$gpuhist" reduce --type i16le count,min,max,mean,variance |
    awk -F'\t' '
        function db(level) { return level > 0 ? sprintf("%.1f dB", 20 * log(level / 32768) / log(10)) : "-inf dB" }
        { value[$1] = $2 }
        END {
            if (NR < 5) exit 1 # gpuhist has printed an error
            peak = value["max"] > -value["min"] ? value["max"] : -value["min"]
            printf "samples\t%d\npeak\t%s\n", value["count"], db(peak)
            printf "rms\t%s\n", db(sqrt(value["mean"] ^ 2 + value["variance"]))
            printf "mean\t%.1f\n", value["mean"]
        }'
