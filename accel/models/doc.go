// Package models provides architectures whose pretrained weights are published: [ResNet18], [ResNet50] and
// [ViT] with torchvision's names of parameters, and [GPT2], [BERT] and [Llama] with those of Hugging
// Face's transformers.
//
//	model, err := models.Load("path/of/gpt2") // a folder with config.json and model.safetensors
//	tokens, err := accel.Generate(ctx, model, prompt, 20, accel.Temperature(0))
//
// [Download] gets the files of a model by HTTPS, and [Load] reads their folder. Weights of torchvision, saved with
// safetensors.torch.save_file, are read with nn.Load; nn.ReplaceHead gives a model another head.
//
// Each model is one file, a struct of layers of package nn. Tests compare logits and generated tokens
// with those of the libraries.
package models
