package main

import "github.com/quernlab/quern/accel/nn"

func mlp() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(256), nn.ReLU(), nn.Dense(128), nn.ReLU(), nn.Dense(10))
}

func cnn() nn.Module {
	return nn.Sequential(
		nn.Conv2D(16, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2),
		nn.Conv2D(32, 3, nn.Same()), nn.ReLU(), nn.MaxPool2D(2),
		nn.Flatten(), nn.Dense(10))
}

// resNet is ResNet-9 with its usual channels, for images of 28×28.
func resNet() nn.Module {
	chain := nn.Sequential(convBlock(64)...)
	chain.Add(convBlock(128)...).Add(nn.MaxPool2D(2), nn.Residual(append(convBlock(128), convBlock(128)...)...))
	chain.Add(convBlock(256)...).Add(nn.MaxPool2D(2))
	chain.Add(convBlock(512)...).Add(nn.MaxPool2D(2), nn.Residual(append(convBlock(512), convBlock(512)...)...))
	return chain.Add(nn.MaxPool2D(3), nn.Flatten(), nn.Dense(10))
}

func convBlock(channels int) []nn.Module {
	return []nn.Module{nn.Conv2D(channels, 3, nn.Same(), nn.NoBias()), nn.BatchNorm(), nn.ReLU()}
}

func block() nn.Module {
	return nn.Sequential(
		nn.Residual(nn.LayerNorm(), nn.SelfAttention(heads, nn.Causal())),
		nn.Residual(nn.LayerNorm(), nn.Dense(4*width), nn.GELU(), nn.Dense(width)))
}
