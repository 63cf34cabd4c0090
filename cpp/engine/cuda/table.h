/* What the core calls of a plugin that computes on a device: memory, copies and kernels, as plain C. The plugin is one
   shared library, loaded at run time. All calls of one queue are done in order; `launch`, `upload` and `zero` may
   return before the work is done, `download` and `wait` return after it. */
#ifndef FRUGALBOOST_DEVICE_TABLE_H
#define FRUGALBOOST_DEVICE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A plugin fits a core of the same version. It changes with this table, with the kernels and with their arguments. */
#define FRUGAL_DEVICE_VERSION 1

enum FrugalDeviceResult { FRUGAL_OK = 0, FRUGAL_NO_MEMORY = 1, FRUGAL_FAILED = 2 };

struct FrugalDeviceFacts {
  char name[128];
  uint64_t free_bytes, total_bytes;
  int32_t multiprocessors;
  int32_t emulated; /* the kernels run on the processor, for tests */
};

struct FrugalDeviceTable {
  uint32_t version; /* the first member in all versions */
  uint32_t size;    /* of this table */
  const char* (*message)(void); /* why the last call of this thread failed */
  int (*count)(int32_t* devices);
  int (*describe)(int32_t device, struct FrugalDeviceFacts* facts);
  int (*open)(int32_t device, void** queue);
  void (*close)(void* queue); /* frees whatever was not released */
  int (*allocate)(void* queue, size_t bytes, void** memory);
  void (*release)(void* queue, void* memory);
  int (*upload)(void* queue, void* to, const void* from, size_t bytes);
  int (*download)(void* queue, void* to, const void* from, size_t bytes);
  int (*zero)(void* queue, void* memory, size_t bytes);
  int (*copy)(void* queue, void* to, const void* from, size_t bytes);
  int (*launch)(void* queue, int32_t kernel, uint32_t blocks, const void* arguments, size_t bytes);
  int (*wait)(void* queue);
};

/* The one symbol of the library. */
typedef const struct FrugalDeviceTable* (*FrugalDeviceTableFunction)(void);
#define FRUGAL_DEVICE_SYMBOL "frugalboost_device_table"

#endif
