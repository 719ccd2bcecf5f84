# A small ctypes client of CANN's C interface, for tests that speak to the simulator without MindSpore.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import ctypes
from ctypes import byref, c_bool, c_float, c_int32, c_int64, c_size_t, c_uint64, c_void_p

import numpy as np

FLOAT, FLOAT16, INT32, INT64, DOUBLE, BOOL, BF16 = 0, 1, 3, 9, 11, 12, 27
DTYPES = {np.dtype(name): code for name, code in {
    "float32": FLOAT, "float16": FLOAT16, "int8": 2, "int32": INT32, "uint8": 4, "int16": 6, "int64": INT64,
    "float64": DOUBLE, "bool": BOOL}.items()}
FORMAT_ND = 2
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
POINTERS = ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray", "aclCreateTensorList", "aclCreateTensorDesc",
            "aclCreateDataBuffer", "aclopCreateAttr")


class Tensor:
    """A NumPy array's copy in device memory, with the array's own strides, and its aclTensor."""

    def __init__(self, cann, array, dtype=None):
        self.cann = cann
        self.base = np.ascontiguousarray(_base_of(array))
        self.pointer = cann.upload(self.base)
        self.shape, self.itemsize = array.shape, array.itemsize
        self.strides = [stride // array.itemsize for stride in array.strides]
        self.offset = (array.__array_interface__["data"][0] - _base_of(array).__array_interface__["data"][0]) // array.itemsize
        self.numpy_dtype = array.dtype
        dims = _ints(self.shape)
        storage = _ints([self.base.size])
        self.handle = cann.aclCreateTensor(dims, c_uint64(len(self.shape)),
                                           c_int32(DTYPES[array.dtype] if dtype is None else dtype),
                                           _ints(self.strides), c_int64(self.offset), c_int32(FORMAT_ND), storage,
                                           c_uint64(1), c_void_p(self.pointer))

    def numpy(self):
        """What the tensor holds now, as an array of the same layout."""
        flat = self.cann.download(self.pointer, self.base.nbytes).view(self.numpy_dtype)
        return np.lib.stride_tricks.as_strided(flat[self.offset:], self.shape,
                                               [stride * self.itemsize for stride in self.strides])


class Cann:
    """The calls of the library as attributes; every one returns its status or pointer."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name in POINTERS:
            getattr(self.library, name).restype = c_void_p

    def __getattr__(self, name):
        return getattr(self.library, name)

    def message(self):
        """The recent error message, which reading clears."""
        return (self.library.aclGetRecentErrMsg() or b"").decode()

    def malloc(self, size):
        pointer = c_void_p()
        check(self.aclrtMalloc(byref(pointer), c_size_t(size), c_int32(0)))
        return pointer.value

    def stream(self):
        stream = c_void_p()
        check(self.aclrtCreateStream(byref(stream)))
        return stream

    def upload(self, array):
        pointer = self.malloc(max(array.nbytes, 1))
        check(self.copy(pointer, array.nbytes, array.ctypes.data, array.nbytes, HOST_TO_DEVICE))
        return pointer

    def download(self, pointer, size):
        data = np.empty(size, np.uint8)
        check(self.copy(data.ctypes.data, size, pointer, size, DEVICE_TO_HOST))
        return data

    def copy(self, target, target_size, source, count, kind):
        return self.aclrtMemcpy(c_void_p(target), c_size_t(target_size), c_void_p(source), c_size_t(count), c_int32(kind))

    def tensor(self, array, dtype=None):
        return Tensor(self, array, dtype)

    def scalar(self, value, dtype=None):
        array = np.asarray(value, dtype)
        return c_void_p(self.aclCreateScalar(c_void_p(array.ctypes.data), c_int32(DTYPES[array.dtype])))

    def plan(self, name, *arguments):
        """Phase 1: (status, executor, workspace size). int is int64, list is aclIntArray, None is null."""
        size, executor = c_uint64(), c_void_p()
        status = getattr(self, name + "GetWorkspaceSize")(*map(self._argument, arguments), byref(size), byref(executor))
        return status, executor, size.value

    def launch(self, name, executor, stream=None, workspace=None, size=0):
        """Phase 2."""
        return getattr(self, name)(c_void_p(workspace), c_uint64(size), executor, stream)

    def run(self, name, *arguments):
        """Both phases and a synchronisation, all of which must succeed."""
        status, executor, size = self.plan(name, *arguments)
        assert status == 0, self.message()
        workspace = self.malloc(size) if size else None
        assert self.launch(name, executor, None, workspace, size) == 0, self.message()
        assert self.aclrtSynchronizeStream(None) == 0, self.message()

    def run_aclop(self, name, inputs, outputs, **attributes):
        """The older route; returns the status of the execution, or of the synchronisation."""
        descriptions = [self._description(t) for t in (*inputs, *outputs)]
        buffers = [self.aclCreateDataBuffer(c_void_p(t.pointer), c_size_t(t.base.nbytes)) for t in (*inputs, *outputs)]
        attr = c_void_p(self.aclopCreateAttr())
        for key, value in attributes.items():
            if isinstance(value, bool):
                self.aclopSetAttrBool(attr, key.encode(), c_bool(value))
            elif isinstance(value, float):
                self.aclopSetAttrFloat(attr, key.encode(), c_float(value))
            elif isinstance(value, str):
                self.aclopSetAttrString(attr, key.encode(), value.encode())
            elif isinstance(value, int):
                self.aclopSetAttrInt(attr, key.encode(), c_int64(value))
            else:
                self.aclopSetAttrListInt(attr, key.encode(), c_int32(len(value)), _ints(value))
        n, m = len(inputs), len(outputs)
        status = self.aclopCompileAndExecute(
            name.encode(), c_int32(n), _pointers(descriptions[:n]), _pointers(buffers[:n]), c_int32(m),
            _pointers(descriptions[n:]), _pointers(buffers[n:]), attr, c_int32(0), c_int32(0), None, None)
        return status or self.aclrtSynchronizeStream(None)

    def _description(self, tensor):
        return self.aclCreateTensorDesc(c_int32(DTYPES[tensor.numpy_dtype]), c_int32(len(tensor.shape)),
                                        _ints(tensor.shape), c_int32(FORMAT_ND))

    def _argument(self, value):
        if isinstance(value, Tensor):
            return c_void_p(value.handle)
        if isinstance(value, bool):
            return c_bool(value)
        if isinstance(value, int):
            return c_int64(value)
        if isinstance(value, list) and value and isinstance(value[0], Tensor):
            return c_void_p(self.aclCreateTensorList(_pointers([t.handle for t in value]), c_uint64(len(value))))
        if isinstance(value, (list, tuple)):
            return c_void_p(self.aclCreateIntArray(_ints(value), c_uint64(len(value))))
        return value


def check(status):
    """Raises where a call that must succeed did not."""
    if status != 0:
        raise RuntimeError(f"a CANN call returned {status}")


def _base_of(array):
    return array if array.base is None else array.base


def _ints(values):
    return (c_int64 * max(len(values), 1))(*values)


def _pointers(values):
    return (c_void_p * max(len(values), 1))(*values)
