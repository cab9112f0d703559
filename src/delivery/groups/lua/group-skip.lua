--[[ group-skip: drops what waits in an ordering group and was logged up to a log id. A head that runs stays, and so does a dead letter that is held.
  Atomic because: a run that begins meanwhile must find its delivery at the head or gone, and nothing may be entered between what is dropped.
  KEYS 1 ordering group, or pending again if there is no order · 2 pending · 3 payloads · 4 lock of the head's job
  ARGV 1 id of the head · 2 log id, the last one that is dropped · 3 only what this replay has sent, or "all" of them; "": everything
  RETURN {"moved"}: it has another head now · {"runs" | "stays" | "dropped" (the head), head of the group now or "", id and own event or "" of each that was dropped …}    Cost O(entries). Never calls TIME. ]]
--- @include "entry"
local lastMs, lastSequence = string.match(ARGV[2], '^(%d+)-(%d+)$')
lastMs, lastSequence = tonumber(lastMs), tonumber(lastSequence)

local function isOther(entry)
  if ARGV[3] == '' then return false end
  local replay = string.match(idOf(entry), '%.(r%x+)%.%d+%-%d+')
  return not replay or (ARGV[3] ~= 'all' and replay ~= ARGV[3])
end

local function isLater(entry)
  local ms, sequence = string.match(entry, '\31(%d+)-(%d+)\31')
  ms, sequence = tonumber(ms), tonumber(sequence)
  return ms > lastMs or (ms == lastMs and sequence > lastSequence)
end

local dropped = {}
local function drop(id)
  if redis.call('ZREM', KEYS[2], id) == 1 then
    dropped[#dropped + 1] = id
    dropped[#dropped + 1] = redis.call('HGET', KEYS[3], id) or ''
  end
  redis.call('HDEL', KEYS[3], id)
end

local isRunning = redis.call('EXISTS', KEYS[4]) == 1
local isPending = redis.call('ZSCORE', KEYS[2], ARGV[1])
if KEYS[1] == KEYS[2] then
  if not isPending then return { 'moved' } end
  if isRunning then return { 'runs', '' } end
  drop(ARGV[1])
  return { 'dropped', '', dropped[1], dropped[2] }
end

local entries = redis.call('LRANGE', KEYS[1], 0, -1)
if idOf(entries[1]) ~= ARGV[1] then return { 'moved' } end
local kept, word = {}, 'dropped'
for index, entry in ipairs(entries) do
  local stays = isOther(entry) or isLater(entry)
  if index == 1 and (isRunning or not isPending) then
    stays, word = true, isRunning and 'runs' or 'stays'
  elseif index == 1 and stays then
    word = 'stays'
  end
  if stays then kept[#kept + 1] = entry else drop(idOf(entry)) end
end
if #kept < #entries then
  redis.call('DEL', KEYS[1])
  for _, entry in ipairs(kept) do redis.call('RPUSH', KEYS[1], entry) end
end
local answer = { word, kept[1] or '' }
for _, text in ipairs(dropped) do answer[#answer + 1] = text end
return answer
