-- The element types of tensors and scalars, as core/dtype.h lists them: size in bytes and kind.

local fault = require "ako.fault"

local dtypes = {
    f64 = { size = 8, kind = "float" },
    f32 = { size = 4, kind = "float" },
    f16 = { size = 2, kind = "float" },
    bf16 = { size = 2, kind = "float" },
    f8e4m3 = { size = 1, kind = "float" },
    f8e5m2 = { size = 1, kind = "float" },
    i64 = { size = 8, kind = "integer" },
    i32 = { size = 4, kind = "integer" },
    i16 = { size = 2, kind = "integer" },
    i8 = { size = 1, kind = "integer" },
    u64 = { size = 8, kind = "integer" },
    u32 = { size = 4, kind = "integer" },
    u16 = { size = 2, kind = "integer" },
    u8 = { size = 1, kind = "integer" },
    bool = { size = 1, kind = "bool" },
}

local spelled = {
    float32 = "f32", float = "f32", float16 = "f16", half = "f16", bfloat16 = "bf16", float64 = "f64", double = "f64",
    int32 = "i32", int = "i32", int64 = "i64", int16 = "i16", int8 = "i8", uint8 = "u8",
}

--- The description { size = bytes, kind = "float" | "integer" | "bool" } of a dtype; raises a fault for others.
local function check(name)
    if dtypes[name] then return dtypes[name] end
    local meant = spelled[name]
    local hint = meant and (" (did you mean '%s'?)"):format(meant) or fault.nearest(tostring(name), dtypes)
    fault.raise("INVALID", "unknown dtype '%s'%s", tostring(name), hint)
end

return { check = check, all = dtypes }
