--[[ group-absorb: the head of an ordering group absorbs the events behind it. With data (debounce): they are merged into the head
  and leave, and the head's job gets the data. Without data (batch): head and followers are handled and leave
  together.
  Atomic because: if the process dies in between, followers that left before the head's job has their data would be lost; and if head
  and followers did not leave together, a repetition would start with the wrong event.
  KEYS 1 groups · 2 pending · 3 holders · 4 positions · 5 the head's job (a hash of BullMQ)
  ARGV 1 workspace · 2 group · 3 job id of the head · 4 holder · 5 data or "" · then the job ids of the followers, in order
  RETURN "merged" | "left" | "taken-over", job id of the head of the group now or ""
  Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local POSITION_WIDTH = 35
local workspace, group, id, holder, data = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local function first(count)
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, count)
end

local function idOf(member)
  return member and string.sub(member, #group + POSITION_WIDTH + 3) or ''
end

local members = first(#ARGV - 4)
-- The group must still begin with the given events; otherwise this run has read an older state of it.
local stands = redis.call('HGET', KEYS[3], group) == holder and idOf(members[1]) == id
for i = 6, #ARGV do stands = stands and idOf(members[i - 4]) == ARGV[i] end
if not stands or (data ~= '' and redis.call('EXISTS', KEYS[5]) == 0) then return { 'taken-over', '' } end

for i = data == '' and 1 or 2, #members do
  local position = string.sub(members[i], #group + 2, #group + 1 + POSITION_WIDTH)
  redis.call('ZREM', KEYS[1], members[i])
  redis.call('ZREM', KEYS[2], workspace .. SEP .. position)
  redis.call('HDEL', KEYS[4], idOf(members[i]))
end

if data ~= '' then
  redis.call('HSET', KEYS[5], 'data', data)
  return { 'merged', id }
end
redis.call('HDEL', KEYS[3], group)
return { 'left', idOf(first(1)[1]) }
