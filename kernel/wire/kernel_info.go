package wire

// KernelInfo is the content of kernel_info_reply.
type KernelInfo struct {
	Status                string       `json:"status"`
	ProtocolVersion       string       `json:"protocol_version"`
	Implementation        string       `json:"implementation"`
	ImplementationVersion string       `json:"implementation_version"`
	LanguageInfo          LanguageInfo `json:"language_info"`
	Banner                string       `json:"banner"`
	// Debugger is deprecated by SupportedFeatures, but read by front ends.
	Debugger          bool       `json:"debugger"`
	HelpLinks         []HelpLink `json:"help_links"`
	SupportedFeatures []string   `json:"supported_features"`
}

// LanguageInfo is what a front end needs to know of the language of the cells;
// notebooks keep it.
type LanguageInfo struct {
	Name              string `json:"name"`
	Version           string `json:"version"`
	MIMEType          string `json:"mimetype"`
	FileExtension     string `json:"file_extension"` // with its dot
	PygmentsLexer     string `json:"pygments_lexer"`
	CodeMirrorMode    string `json:"codemirror_mode"`
	NBConvertExporter string `json:"nbconvert_exporter"`
}

// GoLanguage is what there is to know of Go, of a version.
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

// HelpLink is an entry of the help menu of a front end.
type HelpLink struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// NewKernelInfo fills in the fields of info that the protocol settles.
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
