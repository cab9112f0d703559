-- The two numbers of a serial, which has the form of a log id.
local function numbersOf(serial)
  local ms, sequence = string.match(serial, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(sequence)
end
-- Whether the deliveries up to this serial ("" for none) were entered. Where Redis went back since, they are not.
local function hasEntered(entered, serial)
  if serial == '' then return true end
  local ms, sequence = numbersOf(redis.call('GET', entered) or '0-0')
  local wantedMs, wantedSequence = numbersOf(serial)
  return ms > wantedMs or (ms == wantedMs and sequence >= wantedSequence)
end
