/* A stand-in for the NVIDIA driver's library libnvidia-ml.so.1, for machines without a driver; no
 * device is behind it. It has the entry points that pynvml calls for memory and utilisation, with
 * the layouts and codes of NVIDIA's nvml.h.
 *
 * What it answers stands in the file that STAND_IN_DRIVER names, a line each: a name and numbers.
 * The file is read for every question. What it does not say is zero: no error, no delay.
 *
 *   devices COUNT          memory.N TOTAL RESERVED USED    utilisation.N PERCENT
 *   init CODE              handle.N CODE                   memory_error.N CODE
 *   delay_ms MS            hang 1 (no answer until it is 0)  utilisation_error.N CODE
 *   epoch NUMBER           (handles of an earlier epoch are stale)
 *
 * -DBEFORE_510 leaves out what drivers before 510 lack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    ARGUMENT_VERSION_MISMATCH = 25,
    MOST_DEVICES = 16,
};

typedef struct {
    unsigned long long total, free, used;
} Memory;
typedef struct {
    unsigned int version;
    unsigned long long total, reserved, free, used;
} MemoryV2;
typedef struct {
    unsigned int gpu, memory;
} Utilization;
typedef struct {
    unsigned int index;
    unsigned long long epoch;
} Device;

static Device devices[MOST_DEVICES];
static int began, ended, asked;

/* Fill `numbers` with what the file says under a name; zeros where it says nothing. */
static void say(const char *name, int device, unsigned long long numbers[3]) {
    char wanted[64], line[256], found[64];
    FILE *file = fopen(getenv("STAND_IN_DRIVER"), "r");
    numbers[0] = numbers[1] = numbers[2] = 0;
    snprintf(wanted, sizeof wanted, device < 0 ? "%s" : "%s.%d", name, device);
    while (file && fgets(line, sizeof line, file)) {
        unsigned long long read[3] = {0, 0, 0};
        if (sscanf(line, "%63s %llu %llu %llu", found, &read[0], &read[1], &read[2]) > 1 &&
            strcmp(found, wanted) == 0)
            memcpy(numbers, read, sizeof read);
    }
    if (file)
        fclose(file);
}

static unsigned long long number(const char *name, int device) {
    unsigned long long numbers[3];
    say(name, device, numbers);
    return numbers[0];
}

static void take_time(void) {
    asked++;
    while (number("hang", -1))
        usleep(1000);
    usleep(1000 * (useconds_t)number("delay_ms", -1));
}

static int check(const Device *device) {
    take_time();
    if (began <= ended)
        return UNINITIALIZED;
    return device && device->epoch != number("epoch", -1) ? INVALID_ARGUMENT : SUCCESS;
}

/* For tests: how often NVML was begun with, ended, and asked. */
int standInBegan(void) { return began; }
int standInEnded(void) { return ended; }
int standInAsked(void) { return asked; }

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    take_time();
    int code = (int)number("init", -1);
    if (code == SUCCESS)
        began++;
    return code;
}

int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void) {
    if (began <= ended)
        return UNINITIALIZED;
    ended++;
    return SUCCESS;
}

const char *nvmlErrorString(int code) {
    return code == ARGUMENT_VERSION_MISMATCH ? "Argument version mismatch" : "An unknown error";
}

int nvmlDeviceGetCount_v2(unsigned int *count) {
    int code = check(NULL);
    if (code == SUCCESS)
        *count = (unsigned int)number("devices", -1);
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device **device) {
    int code = check(NULL);
    if (code != SUCCESS)
        return code;
    if (index >= number("devices", -1) || index >= MOST_DEVICES)
        return INVALID_ARGUMENT;
    if (number("handle", (int)index))
        return (int)number("handle", (int)index);
    devices[index].index = index;
    devices[index].epoch = number("epoch", -1);
    *device = &devices[index];
    return SUCCESS;
}

static int read_memory(const Device *device, unsigned long long numbers[3]) {
    int code = check(device);
    if (code == SUCCESS)
        code = (int)number("memory_error", (int)device->index);
    if (code == SUCCESS)
        say("memory", (int)device->index, numbers);
    return code;
}

int nvmlDeviceGetMemoryInfo(const Device *device, Memory *memory) {
    unsigned long long numbers[3];
    int code = read_memory(device, numbers);
    if (code != SUCCESS)
        return code;
    /* The first version counts what the driver keeps for itself as used. */
    *memory = (Memory){numbers[0], numbers[0] - numbers[1] - numbers[2], numbers[1] + numbers[2]};
    return SUCCESS;
}

#ifndef BEFORE_510
int nvmlDeviceGetMemoryInfo_v2(const Device *device, MemoryV2 *memory) {
    unsigned long long numbers[3];
    /* A versioned struct of nvml.h: its size, and its version in the highest byte. */
    if (memory->version != (sizeof(MemoryV2) | (2u << 24)))
        return ARGUMENT_VERSION_MISMATCH;
    int code = read_memory(device, numbers);
    if (code != SUCCESS)
        return code;
    memory->total = numbers[0];
    memory->reserved = numbers[1];
    memory->used = numbers[2];
    memory->free = numbers[0] - numbers[1] - numbers[2];
    return SUCCESS;
}
#endif

int nvmlDeviceGetUtilizationRates(const Device *device, Utilization *utilization) {
    int code = check(device);
    if (code == SUCCESS)
        code = (int)number("utilisation_error", (int)device->index);
    if (code == SUCCESS) {
        utilization->gpu = (unsigned int)number("utilisation", (int)device->index);
        utilization->memory = 0;
    }
    return code;
}
