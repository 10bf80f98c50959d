package data

import (
	"fmt"
	"slices"
)

// OpenUnlabeledImages is [OpenImages] for images that nobody has labeled yet: it finds the files in
// PNG, JPEG, GIF, WebP, BMP or TIFF format in a folder and all its subfolders, sorted by name, whatever their names
// mean. Hidden files and folders are ignored. The classes are those that the images may have; their
// labels are unknown, see [Dataset.Unlabeled]. [Dataset.Path] returns the file of an example. A
// folder without images is a [*FormatError].
//
// A pool of package active asks for the labels that help most:
//
//	photos, err := data.OpenUnlabeledImages("photos", 128, 128, "cat", "dog")
//	pool, err := active.Resume("labels.jsonl", photos, 0, 1)
func OpenUnlabeledImages(folder string, height, width int, classes ...string) (*Dataset, error) {
	if height < 1 || width < 1 || height > 1<<15 || width > 1<<15 {
		return nil, fmt.Errorf("data: OpenUnlabeledImages: the size %d × %d must be positive", height, width)
	}
	if len(classes) < 2 {
		return nil, fmt.Errorf("data: OpenUnlabeledImages: name the classes, at least two, as in \"cat\", \"dog\"")
	}
	for i, name := range classes {
		if slices.Contains(classes[:i], name) {
			return nil, fmt.Errorf("data: OpenUnlabeledImages: the class %q is named twice", name)
		}
	}
	found := &unlabeledFiles{imageFiles{height: height, width: width, classes: slices.Clone(classes)}}
	var err error
	found.files, err = imagesBelow(folder)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(found.files) == 0 {
		return nil, &FormatError{Format: "image folder", Path: folder, Want: imageFormats + " files", Got: "none"}
	}
	found.labels = make([]int, len(found.files)) // never read
	return &Dataset{name: folder, shape: []int{3, height, width}, classes: found.classes, source: found}, nil
}

// unlabeledFiles are images whose classes are unknown.
type unlabeledFiles struct{ imageFiles }

func (*unlabeledFiles) form() form { return form{unlabeled: true} }
