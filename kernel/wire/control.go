package wire

// KernelInfo is the content of kernel_info_reply.
type KernelInfo struct {
	Status                string       `json:"status"`
	ProtocolVersion       string       `json:"protocol_version"`
	Implementation        string       `json:"implementation"`
	ImplementationVersion string       `json:"implementation_version"`
	LanguageInfo          LanguageInfo `json:"language_info"`
	Banner                string       `json:"banner"`
	// Debugger is superseded by SupportedFeatures, but front ends still read it.
	Debugger          bool       `json:"debugger"`
	HelpLinks         []HelpLink `json:"help_links"`
	SupportedFeatures []string   `json:"supported_features"`
}

// LanguageInfo describes the language of the cells for front ends. It is stored in
// notebooks.
type LanguageInfo struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	MIMEType          string `json:"mimetype"`
	FileExtension     string `json:"file_extension"` // including the dot
	PygmentsLexer     string `json:"pygments_lexer"`
	CodeMirrorMode    string `json:"codemirror_mode"`
	NBConvertExporter string `json:"nbconvert_exporter"`
}

// GoLanguage describes a version of Go.
func GoLanguage(version string) LanguageInfo {
	return LanguageInfo{
		Name:              "go",
		Version:           version,
		MIMEType:          "text/x-go",
		FileExtension:     ".go",
		PygmentsLexer:     "go",
		CodeMirrorMode:    "go",
		NBConvertExporter: "script",
	}
}

// HelpLink is an entry in the help menu of a front end.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// NewKernelInfo sets the fields of info that have the same value for each kernel of this
// protocol version.
func NewKernelInfo(info KernelInfo) KernelInfo {
	info.Status, info.ProtocolVersion = statusOK, Version
	if info.HelpLinks == nil {
		info.HelpLinks = []HelpLink{}
	}
	if info.SupportedFeatures == nil {
		info.SupportedFeatures = []string{}
	}
	return info
}

// Shutdown is the content of shutdown_request.
type Shutdown struct {
	Restart bool `json:"restart"`
}

// ShutdownOK is the content of shutdown_reply.
type ShutdownOK struct {
	Status  string `json:"status"`
	Restart bool   `json:"restart"`
}

// NewShutdownOK returns the content of shutdown_reply.
func NewShutdownOK(restart bool) ShutdownOK { return ShutdownOK{statusOK, restart} }

// CreateSubshell is the content of create_subshell_reply (JEP 91).
type CreateSubshell struct {
	Status string `json:"status"`
	ID     string `json:"subshell_id"`
}

// NewCreateSubshell returns the content of create_subshell_reply.
func NewCreateSubshell(id string) CreateSubshell { return CreateSubshell{Status: statusOK, ID: id} }

// DeleteSubshell is the content of delete_subshell_request; its reply is an
// EmptyReply.
type DeleteSubshell struct {
	ID string `json:"subshell_id"`
}

// Subshells is the content of list_subshell_reply.
type Subshells struct {
	Status string   `json:"status"`
	IDs    []string `json:"subshell_id"`
}

// NewSubshells returns the content of list_subshell_reply.
func NewSubshells(ids []string) Subshells {
	return Subshells{Status: statusOK, IDs: append([]string{}, ids...)}
}

// Usage is the content of usage_reply: the resource usage of the kernel's processes. The
// message was introduced by ipykernel and is shown in JupyterLab's usage panel.
type Usage struct {
	Status string `json:"status"`
	Host   string `json:"hostname"`
	PID    int    `json:"pid"`
	// KernelCPU is the CPU usage in percent of one core since the previous request.
	KernelCPU float64 `json:"kernel_cpu"`
	// KernelMemory is the resident memory in bytes. On Linux, memory that is shared between
	// processes is divided among them.
	KernelMemory uint64       `json:"kernel_memory"`
	HostCPU      float64      `json:"host_cpu_percent"` // of all cores since the previous request
	Cores        int          `json:"cpu_count"`
	HostMemory   VirtualUsage `json:"host_virtual_memory"`
	// GPUs are the GPUs of the machine. The field is an extension, which front ends
	// ignore. It is omitted if there is no GPU.
	GPUs []GPUUsage `json:"gpus,omitempty"`
}

// GPUUsage is the usage of a GPU by all processes.
type GPUUsage struct {
	Index       int     `json:"index"`
	Name        string  `json:"name"`
	Percent     float64 `json:"percent"`      // of the time during which it was busy
	MemoryUsed  uint64  `json:"memory_used"`  // bytes
	MemoryTotal uint64  `json:"memory_total"` // bytes
}

// VirtualUsage is the memory of the machine, in bytes.
type VirtualUsage struct {
	Total     uint64  `json:"total"`
	Available uint64  `json:"available"`
	Used      uint64  `json:"used"`
	Free      uint64  `json:"free"`
	Percent   float64 `json:"percent"`
}

// NewUsage sets the status of usage.
func NewUsage(usage Usage) Usage {
	usage.Status = statusOK
	return usage
}
