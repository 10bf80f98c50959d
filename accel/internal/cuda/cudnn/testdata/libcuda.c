// A driver without devices, for machines without a driver: cuDNN loads parts that need a
// driver, even if it only makes plans from the description of a GPU.
#define ALL(F) \
  F(cuCtxGetCurrent) F(cuCtxGetLimit) F(cuCtxPopCurrent) F(cuCtxPushCurrent) \
  F(cuDeviceGet) F(cuDeviceGetCount) F(cuDriverGetVersion) F(cuGetErrorName) \
  F(cuGetErrorString) F(cuKernelGetAttribute) F(cuKernelGetFunction) F(cuKernelSetAttribute) \
  F(cuLaunchCooperativeKernel) F(cuLaunchKernel) F(cuLaunchKernelEx) F(cuLibraryGetKernel) \
  F(cuLibraryLoadData) F(cuLibraryLoadFromFile) F(cuLibraryUnload) F(cuLinkAddData) \
  F(cuLinkComplete) F(cuLinkCreate) F(cuLinkDestroy) F(cuModuleGetFunction) \
  F(cuModuleLoadData) F(cuModuleUnload) F(cuOccupancyMaxPotentialClusterSize) F(cuStreamGetCtx) \
  F(cuTensorMapEncodeIm2col) F(cuTensorMapEncodeTiled)

#define NO_DEVICE(name) int name(void) { return 100; }
ALL(NO_DEVICE)
