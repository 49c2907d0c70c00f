# expect: PASSED - ReLU after the maximum, the first linear layer as an einsum of images
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 84)
        self.fc2 = nn.Linear(84, classes)

    def forward(self, x):
        x = F.max_pool2d(F.conv2d(x, self.conv1.weight, self.conv1.bias, padding=2), 2).relu_()
        x = F.max_pool2d(F.conv2d(x, self.conv2.weight, self.conv2.bias), 2).relu_()
        x = torch.einsum("nchw,fchw->nf", x, self.fc1.weight.view(-1, 16, 5, 5)) + self.fc1.bias
        return torch.addmm(self.fc2.bias, torch.relu(x), self.fc2.weight.t())
