// See cuda_runtime_api.h.
typedef int libraryPropertyType;
