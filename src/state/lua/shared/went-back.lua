-- Whether Redis went back to a state from before this entry of the log: the entry is gone, and the retention has not dropped it.
local function wentBack(log, known)
  if known == '' or #redis.call('XRANGE', log, known, known, 'COUNT', 1) > 0 then return false end
  if redis.call('EXISTS', log) == 0 then return true end
  local function isBefore(id)
    local ms, sequence = string.match(id, '^(%d+)-(%d+)$')
    local knownMs, knownSequence = string.match(known, '^(%d+)-(%d+)$')
    return tonumber(ms) < tonumber(knownMs) or (ms == knownMs and tonumber(sequence) < tonumber(knownSequence))
  end
  local first = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  if first then return isBefore(first[1]) end
  -- Every entry is dropped.
  local info = redis.call('XINFO', 'STREAM', log)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then return isBefore(info[at + 1]) end
  end
end
