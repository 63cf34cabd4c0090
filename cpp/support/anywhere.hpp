// Marks functions that processors and other devices compile from the same text.
#pragma once

#ifdef __CUDACC__
#define FRUGAL_ANYWHERE __host__ __device__
#else
#define FRUGAL_ANYWHERE
#endif
