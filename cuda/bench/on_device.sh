#!/usr/bin/env bash
# Checks and times the GPU engine on a machine with a GPU where nothing can be installed. Run in a copy of the checkout:
#
#     OUT=results cuda/bench/on_device.sh STEP...
#
# Steps: about, equal, gpu, speed, big, bigcpu, huge, tests, memcheck, racecheck, initcheck, leaks, kernels, profile.
# All are done, whatever fails; each has a limit of its own. wheels/ may hold what the machine lacks, among it the wheel
# of frugalboost; the plugin is built by nvcc. EMULATE=1 runs all on the emulator.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${OUT:-$root/results}
mkdir -p "$out"
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
cd "$root"

if [ -n "${EMULATE:-}" ]; then # to try this script where no GPU is
  tools/emulator "$site/libplugin.so" &
else
  timeout 120 nvcc -x cu -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr -lineinfo -gencode=arch=compute_90,code=sm_90 \
    -cudart static -shared -Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off -Icpp -Icuda/plugin \
    cuda/plugin/plugin.cpp -o "$site/libplugin.so" > "$out/nvcc.log" 2>&1 &
fi
building=$!
for wheel in wheels/*.whl; do
  python3 -m zipfile -e "$wheel" "$site" || echo "could not unpack $wheel"
done
for archive in wheels/*.tar.xz; do # NAME.tar.xz: large packages, unpacked only where they are missing
  name=$(basename "$archive" .tar.xz)
  python3 -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('${name/scikit_learn/sklearn}') is None)" ||
    python3 -m tarfile -e "$archive" "$site" || echo "could not unpack $archive"
done
export PYTHONPATH=$site:$root:$root/tests PYTHONUNBUFFERED=1
wait $building
[ -f "$site/libplugin.so" ] || { cp wheels/libplugin.so "$site/libplugin.so" && echo "nvcc failed: a library that was carried"; }
export FRUGALBOOST_CUDA_LIBRARY=$site/libplugin.so
[ -d data ] && export FRUGALBOOST_DATA=$root/data

step() { # name, seconds, command
  local name=$1 limit=$2 begin=$SECONDS
  shift 2
  timeout -s INT -k 15 "$limit" "$@" > "$out/$name.log" 2>&1
  echo "== $name: status $?, $((SECONDS - begin)) s"
  tail -n "${LINES_OF:-12}" "$out/$name.log"
}

for name in "$@"; do
  case $name in
    about)
      step about 30 bash -c 'nvidia-smi; nproc; python3 -V; nvcc --version; python3 -c "
import frugalboost, numpy, scipy, sklearn
print(frugalboost.__file__, numpy.__version__, scipy.__version__, sklearn.__version__)
from frugalboost.engines.devices import open_device, plugin_library
device = open_device(plugin_library())
print(device.name, device.free_bytes, device.is_emulated)"'
      ;;
    equal) LINES_OF=30 step equal 120 python3 cuda/bench/equal.py ;;
    speed) LINES_OF=30 step speed 150 python3 -m lab.speed.gpu --sizes 10000x60x100 100000x60x100 1000000x60x100 --repeat 2 --output "$out/speed.json" ;;
    big) LINES_OF=30 step big 200 python3 -m lab.speed.gpu --sizes 4900000x122x500 --devices cuda --repeat 2 --output "$out/big.json" ;;
    bigcpu) LINES_OF=30 step bigcpu 300 python3 -m lab.speed.gpu --sizes 4900000x122x500 --devices cpu --output "$out/bigcpu.json" ;;
    huge) LINES_OF=30 step huge 200 python3 -m lab.speed.gpu --sizes 10000000x100x500 --devices cuda --output "$out/huge.json" ;;
    tests) LINES_OF=40 step tests "${TESTS_LIMIT:-150}" python3 -m pytest --engine cuda -n 6 -q -m "not slow" -p no:cacheprovider --ignore tests/engine/test_lightgbm.py tests/engine ;;
    gpu) LINES_OF=40 step gpu 100 python3 -m pytest -n 0 -q -p no:cacheprovider tests/engine/test_gpu.py ;;
    memcheck | racecheck | initcheck | synccheck)
      step "$name" 100 compute-sanitizer --tool "$name" --error-exitcode 9 python3 cuda/bench/small.py
      ;;
    leaks) step leaks 100 compute-sanitizer --tool memcheck --leak-check full --error-exitcode 9 python3 cuda/bench/small.py ;;
    kernels) # seconds of each kernel over whole fits
      LINES_OF=90 FRUGALBOOST_CUDA_PROFILE=1 step kernels 150 python3 -m lab.speed.gpu --sizes 1000000x60x100 4900000x122x100 --devices cuda
      ;;
    profile) # counters of single launches
      LINES_OF=70 step profile 150 ncu --clock-control none --launch-skip 400 --launch-count 120 --csv --metrics \
gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed,l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed \
        python3 -m lab.speed.gpu --sizes 4900000x122x4 --devices cuda --screening auto
      ;;
  esac
done
