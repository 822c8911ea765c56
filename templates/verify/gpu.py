"""Finds the GPUs of this machine with the driver (ctypes) and NVML, without torch."""

CUDA_ERRORS = {
    1: ("CUDA_ERROR_INVALID_VALUE", "the driver does not support the request"),
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "another process holds the GPU's memory"),
    3: ("CUDA_ERROR_NOT_INITIALIZED", "the driver could not start"),
    34: ("CUDA_ERROR_STUB_LIBRARY", "libcuda.so.1 is the toolkit's stub, not the driver's: remove stubs from "
                                    "LD_LIBRARY_PATH"),
    100: ("CUDA_ERROR_NO_DEVICE", "no GPU is visible"),
    101: ("CUDA_ERROR_INVALID_DEVICE", "CUDA_VISIBLE_DEVICES names a GPU that does not exist"),
    802: ("CUDA_ERROR_SYSTEM_NOT_READY", "the fabric manager of this machine is not running"),
    803: ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the kernel's driver and libcuda have different releases: restart, or "
                                               "restart the container runtime"),
    804: ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility is for data centre GPUs only"),
    999: ("CUDA_ERROR_UNKNOWN", "after a suspend or a driver update: restart the machine"),
}


def child_driver():
    cuda = ctypes.CDLL("libcuda.so.1")
    version, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(version))
    tell(driver_cuda="%d.%d" % (version.value // 1000, version.value % 1000 // 10))
    error = cuda.cuInit(0)
    tell(init=error)
    if not error and not cuda.cuDeviceGetCount(ctypes.byref(count)):
        tell(devices=count.value)


def child_nvml():
    """Returns {"driver", "gpus": [{"name", "memory_mib", "uuid"}]}, with the GPUs that are hidden from CUDA."""
    n = Nvml()
    tell(driver=n.driver(), gpus=n.gpus())


class NvmlMemory(ctypes.Structure):
    _fields_ = [(x, ctypes.c_ulonglong) for x in ("total", "free", "used")]


class NvmlUse(ctypes.Structure):
    _fields_ = [(x, ctypes.c_uint) for x in ("gpu", "memory")]


class Nvml:
    """NVML by its C interface; raises OSError if it is missing."""

    def __init__(self):
        self.lib = ctypes.CDLL("libnvidia-ml.so.1")
        if self.lib.nvmlInit_v2():
            raise OSError("NVML does not start")

    def driver(self):
        text = ctypes.create_string_buffer(96)
        return text.value.decode() if not self.lib.nvmlSystemGetDriverVersion(text, 96) else None

    def handles(self):
        count = ctypes.c_uint()
        if self.lib.nvmlDeviceGetCount_v2(ctypes.byref(count)):
            return []
        found = []
        for i in range(count.value):
            handle = ctypes.c_void_p()
            if not self.lib.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(handle)):
                found.append(handle)
        return found

    def gpus(self):
        rows = []
        for handle in self.handles():
            name, uuid, memory = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96), NvmlMemory()
            self.lib.nvmlDeviceGetName(handle, name, 96)
            self.lib.nvmlDeviceGetUUID(handle, uuid, 96)
            self.lib.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
            rows.append({"name": name.value.decode(errors="replace"), "uuid": uuid.value.decode(errors="replace"),
                         "memory_mib": memory.total >> 20})
        return rows

    def use(self):
        """Returns the utilisation of the busiest GPU in per cent, and the memory in use on all GPUs in MiB."""
        busy, used = 0, 0
        for handle in self.handles():
            use, memory = NvmlUse(), NvmlMemory()
            if not self.lib.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)):
                busy = max(busy, use.gpu)
            if not self.lib.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)):
                used += memory.used >> 20
        return busy, used


class Gpus:
    """Whether CUDA can be used on this machine; `why` is the reason if not."""

    def __init__(self):
        self.why, self.driver, self.names, self.driver_cuda, self.count = None, None, [], None, 0
        nvml = run_child("child_nvml", None, 30)
        self.driver = nvml.last("driver")
        self.names = [g["name"] for g in nvml.last("gpus", [])]
        driver = run_child("child_driver", None, 60)
        self.driver_cuda, self.count = driver.last("driver_cuda"), driver.last("devices") or 0
        self.why = self.reason(driver)

    def reason(self, driver):
        error, hidden = driver.last("init"), os.environ.get("CUDA_VISIBLE_DEVICES")
        if driver.status == "hang":
            return "the driver does not answer (60 s)"
        if self.driver_cuda is None:
            text = "no driver: libcuda.so.1 does not exist" if "cannot open shared object" in driver.text else \
                "libcuda.so.1 cannot be used: " + driver.line()
            if hidden is not None and hidden.strip() in ("", "-1"):
                text += "; and CUDA_VISIBLE_DEVICES=%s would hide every GPU" % hidden
            return text
        if not error and self.count:
            return None
        if hidden is not None and (error in (100, 101) or not error):
            return "CUDA_VISIBLE_DEVICES=%s hides %s" % (
                short(hidden, 60), "%d GPU(s)" % len(self.names) if self.names else "every GPU")
        if not error:
            return "the driver sees no GPU"
        name, cause = CUDA_ERRORS.get(error, ("error %d" % error, "see the driver's log"))
        return "the driver reports %s: %s" % (name, cause)
