// quern_nvml_bind opens a library and returns NULL, or dlerror's text.
const char *quern_nvml_bind(const char *path);
