// How long each kernel takes, for those who make it faster: FRUGALBOOST_CUDA_PROFILE=1 prints a table to standard error
// when a queue ends. Events around every launch cost a few microseconds.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace frugal::device {

class Profile {
 public:
  Profile() : wanted_(std::getenv("FRUGALBOOST_CUDA_PROFILE") != nullptr) {}
  ~Profile() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    if (!wanted_) return;
    std::fprintf(stderr, "%-20s %9s %12s %12s\n", "kernel", "launches", "seconds", "us each");
    double all = 0.0;
    for (const auto& [name, own] : kernels_) {
      all += own.milliseconds;
      std::fprintf(stderr, "%-20s %9zu %12.6f %12.2f\n", name.c_str(), own.launches, own.milliseconds / 1e3,
                   own.milliseconds * 1e3 / static_cast<double>(own.launches));
    }
    std::fprintf(stderr, "kernels %.6f s, %zu waits, %zu uploads (%.3f MB), %zu downloads (%.3f MB), %zu zeroings\n",
                 all / 1e3, waits, uploads, uploaded / 1e6, downloads, downloaded / 1e6, zeroings);
  }
  Profile(const Profile&) = delete;

  template <class Launch>
  void around(const char* name, cudaStream_t stream, const Launch& launch) {
    if (!wanted_) return launch();
    const cudaEvent_t begin = event(), end = event();
    cudaEventRecord(begin, stream);
    launch();
    cudaEventRecord(end, stream);
    pending_.push_back({name, begin, end});
  }
  // After the stream was waited for.
  void settle() {
    ++waits;
    for (const Pending& p : pending_) {
      float milliseconds = 0.0f;
      cudaEventElapsedTime(&milliseconds, p.begin, p.end);
      kernels_[p.name].milliseconds += milliseconds;
      ++kernels_[p.name].launches;
      free_.push_back(p.begin);
      free_.push_back(p.end);
    }
    pending_.clear();
  }

  size_t waits = 0, uploads = 0, downloads = 0, zeroings = 0;
  double uploaded = 0.0, downloaded = 0.0;

 private:
  struct Own {
    double milliseconds = 0.0;
    size_t launches = 0;
  };
  struct Pending {
    const char* name;
    cudaEvent_t begin, end;
  };

  cudaEvent_t event() {
    if (free_.empty()) {
      cudaEvent_t made = nullptr;
      cudaEventCreate(&made);
      events_.push_back(made);
      return made;
    }
    const cudaEvent_t last = free_.back();
    free_.pop_back();
    return last;
  }

  bool wanted_;
  std::map<std::string, Own> kernels_;
  std::vector<Pending> pending_;
  std::vector<cudaEvent_t> events_, free_;
};

}  // namespace frugal::device
