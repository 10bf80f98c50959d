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
